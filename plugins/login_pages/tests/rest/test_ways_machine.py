"""Every order of ways, steps and stale forms: no login or password without the proofs of one attempt."""

from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import product, repeat
from types import SimpleNamespace
from typing import Final

import pyotp
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from tests.support.api import PASSWORD, Api, Person
from tests.support.campaign import campaign_size
from tests.support.config import FIXED_CAPTCHA, SMS_LOGIN, Table, lifted, merged
from tests.support.databases import on_sqlite
from tests.support.ways_machine import CONTACTS, FACTORED, NAMES, PLAIN, TERMS, WaysMachine

from strongroom.foundation.database.upgrade import upgrade
from strongroom.testing.clock import ManualClock
from strongroom_factor_totp import plugin

STEPS_A_RUN: Final = 30
CONFIG: Table = merged(
    SMS_LOGIN,
    FIXED_CAPTCHA,
    lifted(),
    {
        "plugins": {
            "enabled": ["storage_local", "login_sms", "login_email", "factor_totp", "login_pages"]
        },
        "login": {"methods": ["password", "sms", "email_code"]},
        "limits": {"login_failures_before_captcha": 1000},
        "pages": {"terms_url": "https://example.com/terms", "terms_version": TERMS},
        "users": {"require_terms": True},
    },
)
pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]


@pytest.fixture(autouse=True)
def time_of_the_test(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "time", SimpleNamespace(time=lambda: clock.now() / 1000))


@pytest.fixture
def factored(api: Api) -> Person:
    email, mobile = CONTACTS[FACTORED]
    return api.person(name=FACTORED, mobile=mobile, email=email)


@pytest.fixture
def secret(api: Api, clock: ManualClock, factored: Person) -> str:
    """The secret of the authenticator app of a user."""
    begun = api.post("/users/me/factors", {"kind": "totp", "name": "Phone"}, by=factored).json
    secret: str = begun["shown"]["secret"]
    answer = pyotp.TOTP(secret).generate_otp(clock.now() // 30_000)
    path = f"/users/me/factors/{begun['id']}/confirmation"
    confirmed = api.post(path, {"answer": answer}, by=factored)
    assert confirmed.status_code == 201, confirmed.text
    return secret


@pytest.fixture
def machine(api: Api, factored: Person, secret: str) -> type[WaysMachine]:
    """The machine for the users of this test."""
    upgrade(api.container.database.engine, api.container.selection.plugins.tables)
    email, mobile = CONTACTS[PLAIN]
    plain = api.person(name=PLAIN, email=email, mobile=mobile)

    class Machine(WaysMachine):
        pass

    Machine.api, Machine.secret, Machine.admin = api, secret, api.person(admin=True)
    Machine.ids = {PLAIN: plain.id, FACTORED: factored.id}
    Machine.words, Machine.outcomes = dict.fromkeys(NAMES, PASSWORD), Counter()
    return Machine


def test_no_order_of_ways_acts_without_the_proofs_of_one_attempt(machine: type[WaysMachine]) -> None:
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=max(1, campaign_size("SIGN_IN_STEPS", 300) // STEPS_A_RUN),
            stateful_step_count=STEPS_A_RUN,
            phases=[Phase.generate],
            deadline=None,
            database=None,
            print_blob=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert machine.outcomes[PLAIN]
    assert machine.outcomes["password"]


def begins(ways: WaysMachine) -> dict[str, Callable[[], None]]:
    """Return the beginnings of all ways, each by the browser 0."""
    email, number = CONTACTS[FACTORED]
    return {
        "password": partial(ways.send_password, index=0, contact=number, is_right=True),
        "code": partial(ways.choose_code, index=0, kind=CONTACTS[PLAIN][0]),
        "new user": partial(ways.choose_code, index=0, kind="new number"),
        "registration": partial(ways.begin_registration, index=0, kind="new", is_ticked=True),
        "reset": partial(ways.forget_password, index=0, kind=number),
        "reset by e-mail": partial(ways.forget_password, index=0, kind=email),
    }


def steps(ways: WaysMachine, *actions: Callable[[], None]) -> None:
    for act in actions:
        act()
        ways.only_the_proved_happens()


def test_the_proofs_of_one_attempt_act(machine: type[WaysMachine]) -> None:
    ways = machine()
    for begin in begins(ways).values():
        steps(ways, begin, *repeat(partial(ways.go_on_by_link, index=0), 3))
    steps(ways, partial(ways.issue_link, name=PLAIN), partial(ways.redeem_link, index=1, age=0))
    assert ways.outcomes == {FACTORED: 1, PLAIN: 1, "new": 2, "password": 3}


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_each_switch_voids_what_the_former_way_has_proved(
    machine: type[WaysMachine], depth: int
) -> None:
    ways = machine()
    switches: dict[str, Callable[[], None]] = {
        **begins(ways),
        "another way": partial(ways.take_another_way, index=0),
    }
    for former, switch in product(begins(ways), switches):
        on, finish = partial(ways.go_on, index=0), partial(ways.finish_the_former_way, index=0, source=0)
        steps(ways, begins(ways)[former], *repeat(on, depth), switches[switch], finish)
        steps(ways, partial(ways.take_another_way, index=0))
