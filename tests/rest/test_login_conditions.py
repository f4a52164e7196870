"""The one-file plugin examples/plugins.d/company_network.py: logins from the company's network only.

The hook ``register_login_conditions`` is called in the transaction of each login, and a refusal rolls
everything back.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.support import totp
from tests.support.api import Answer, Api, error_code
from tests.support.commands import run_command
from tests.support.config import lifted, write_api_config

from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.login_conditions import LoginFacts
from strongroom.plugin_api.web import ApiError
from strongroom.testing.clock import ManualClock
from strongroom.testing.server import PASSWORD
from strongroom.testing.state import LoginConditionsContract, OpenedPlugin, opened_plugin

EXAMPLE = Path(__file__).parents[2] / "examples" / "plugins.d" / "company_network.py"
INSIDE: Final = "198.51.100.7"
OUTSIDE: Final = "203.0.113.7"
HERE: Final = "192.0.2.7"
"""The address of logins of ``opened``."""
REFUSED: Final = (403, "error.outside-company-network")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[OpenedPlugin]:
    (folder := tmp_path / "plugins.d").mkdir()
    file = Path(shutil.copy(EXAMPLE, folder))
    options = {"networks": [f"{INSIDE}/32", f"{HERE}/32"]}
    with opened_plugin(tmp_path, "company_network", options, file=file) as opened:
        yield opened


class TestConditions(LoginConditionsContract):
    """The conditions of the example."""


def test_the_file_fits_the_server() -> None:
    checked = run_command("plugins", "check", str(EXAMPLE))
    assert "company_network file fits this server" in checked.stdout, checked.stderr


@pytest.fixture
def network_api(
    database_url: str, tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Api]:
    totp.use_clock(clock, monkeypatch)
    (folder := tmp_path / "plugins.d").mkdir()
    shutil.copy(EXAMPLE, folder)
    changes = {
        "plugins": {
            "enabled": ["storage_local", "factor_totp", "login_email"],
            "folder": str(folder),
            "company_network": {"networks": [f"{INSIDE}/32", "127.0.0.0/8"]},
        },
        "login": {"methods": ["password", "email_code"]},
        **lifted("login_per_address"),
    }
    config = write_api_config(tmp_path, database_url, changes)
    with Api.running(config, clock) as api:
        yield api


def log_in(api: Api, email: str, address: str, password: str = PASSWORD) -> Answer:
    body = {"username": email, "password": password}
    return api.post("/authorizations", body, environ_base={"REMOTE_ADDR": address})


def refusal(answer: Answer) -> tuple[int, str]:
    return answer.status_code, error_code(answer)


def test_a_right_password_is_refused_from_elsewhere(network_api: Api) -> None:
    person = network_api.person()
    assert log_in(network_api, person.email, INSIDE).status_code == 200
    assert refusal(log_in(network_api, person.email, OUTSIDE)) == REFUSED


def test_a_wrong_password_has_the_same_answer_everywhere(network_api: Api) -> None:
    person = network_api.person()
    for email in (person.email, "unknown@example.com"):
        inside = log_in(network_api, email, INSIDE, "Wrong1Horse")
        outside = log_in(network_api, email, OUTSIDE, "Wrong1Horse")
        assert refusal(inside) == refusal(outside) == (401, "error.invalid-credentials")


def test_an_administrator_of_the_server_logs_in_from_anywhere(network_api: Api) -> None:
    root = network_api.person(admin=True)
    assert log_in(network_api, root.email, OUTSIDE).status_code == 200


def test_the_step_after_a_first_proof_is_refused_too(network_api: Api) -> None:
    """The challenge is issued inside, and answered from elsewhere."""
    api, person = network_api, network_api.person()
    app = totp.enrol(api, person)
    # Without a challenge, which would reveal that the user has a second factor.
    refused = log_in(api, person.email, OUTSIDE)
    assert refusal(refused) == REFUSED
    assert "challenge" not in refused.json
    challenge = log_in(api, person.email, INSIDE).json["challenge"]
    body = {"challenge": {"id": challenge["id"], "totp": app.next_code()}}
    answered = api.post("/authorizations", body, environ_base={"REMOTE_ADDR": OUTSIDE})
    assert refusal(answered) == REFUSED
    assert api.post("/authorizations", body).status_code == 200


def test_a_refusal_registers_no_user(network_api: Api) -> None:
    body = {
        "username": "new@example.com",
        "verificationCode": network_api.code("new@example.com", "login"),
    }
    refused = network_api.post("/authorizations", body, environ_base={"REMOTE_ADDR": OUTSIDE})
    assert refusal(refused) == REFUSED
    root = network_api.person(admin=True)
    assert network_api.get("/users?q=new@example.com", by=root).json["data"] == []


def test_a_refusal_is_a_failed_login_of_the_audit_log(network_api: Api) -> None:
    person, root = network_api.person(), network_api.person(admin=True)
    log_in(network_api, person.email, OUTSIDE)
    events = network_api.get("/audit-events?action=login&outcome=failure", by=root).json["data"]
    assert [event["details"]["code"] for event in events] == [REFUSED[1]]


class TestFacts:
    """What a condition learns of a login, and what it adds."""

    def test_they_are_those_of_the_user(self, opened: OpenedPlugin) -> None:
        address = Credential("email", "ann@example.org")
        user_id = opened.create_user(contact=address)
        tenant_id = opened.create_tenant(user_id)
        found: list[object] = []

        def look(_: object, login: LoginFacts) -> None:
            found.extend([login.user_id, login.method, login.is_new, login.is_by_contact])
            found.extend([login.is_administrator, login.has_second_factor, login.client.address])
            found.extend([login.find_credentials(), login.find_roles(), login.verified])

        opened.check_login(user_id, "password", also=look)
        assert found[:7] == [user_id, "password", False, False, False, False, HERE]
        assert found[7:] == [[address], {tenant_id: "admin"}, None]

    def test_a_condition_adds_a_member_and_acts_after_the_login(self, opened: OpenedPlugin) -> None:
        owner, user_id = opened.create_user(), opened.create_user("Bob")
        tenant_id = opened.create_tenant(owner)
        after: list[object] = []

        def join(_: object, login: LoginFacts) -> None:
            login.add_member(tenant_id, "member")
            login.after_login(lambda: after.append(opened.host.tenants.find_roles(user_id, [tenant_id])))
            assert after == []

        opened.check_login(user_id, "password", also=join)
        assert after == [{tenant_id: "member"}]

    def test_there_is_no_membership_of_an_unknown_tenant(self, opened: OpenedPlugin) -> None:
        user_id = opened.create_user()
        with pytest.raises(ApiError) as refused:
            opened.check_login(
                user_id, "password", also=lambda _, login: login.add_member("unknown", "member")
            )
        assert refused.value.code == "error.not-found"
