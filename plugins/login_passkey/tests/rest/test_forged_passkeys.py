"""Forged ceremonies of passkeys over REST: none is accepted, and none is an error of the server."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

import pytest
from tests.support.api import Answer, Api, error_code
from tests.support.campaign import campaign_size
from tests.support.config import lifted
from tests.support.passkeys import (
    ORIGIN,
    PASSKEYS,
    begin,
    challenged,
    confirm,
    enrol,
    log_in,
    meet,
    new_challenge,
)

from strongroom.identity.sessions.factor_challenges import TRIES
from strongroom.identity.sessions.factor_verification import DAILY_TRIES
from strongroom.testing.clock import MINUTE, ManualClock
from strongroom.testing.races import Contender, race
from strongroom_simulators.passkeys.authenticator import SoftwareAuthenticator
from strongroom_simulators.passkeys.contract import Forger, Forgery, forged_logins, forged_registrations

WAYS = 32


pytestmark = pytest.mark.config(PASSKEYS, lifted())


def assert_none_accepted(answers: Mapping[str, Answer], expected: set[str], least: int) -> None:
    wrong = {
        name: (answer.status_code, answer.text)
        for name, answer in answers.items()
        if answer.status_code not in (400, 401) or error_code(answer) not in expected
    }
    assert wrong == {}
    assert len(answers) >= least


def forger(api: Api) -> tuple[Forger, SoftwareAuthenticator]:
    """Return a forger without options, and the victim's device."""
    victim, other = api.person(), api.person()
    device = SoftwareAuthenticator(ORIGIN, is_synced=False)
    enrolment = begin(api, victim)
    created = device.create(enrolment["shown"]["publicKey"])
    assert confirm(api, victim, enrolment, created).status_code == 201
    challenge = new_challenge(api)
    used = device.get(challenge["publicKey"])
    assert meet(api, challenge, used).status_code == 200
    return Forger(device, enrol(api, other), {}, used, created), device


def of(forger: Forger, options: Mapping[str, object], forge: Forgery) -> object:
    return forge(Forger(forger.device, forger.other, options, forger.used, forger.created))


def test_no_forged_login_is_accepted(api: Api) -> None:
    has, device = forger(api)
    answers = {}
    for name, forge in forged_logins().items():
        challenge = new_challenge(api)
        answers[name] = meet(api, challenge, of(has, challenge["publicKey"], forge))
    assert_none_accepted(answers, {"error.invalid-credentials", "error.validation-failed"}, least=240)
    device.credentials[0].count += 1
    assert log_in(api, device).status_code == 200


def test_no_forged_registration_is_accepted(api: Api) -> None:
    has, _ = forger(api)
    person, answers = api.person(), {}
    for number, (name, forge) in enumerate(forged_registrations().items()):
        if number % TRIES == 0:
            enrolment = begin(api, person)
        fresh = Forger(has.device, SoftwareAuthenticator(ORIGIN), {}, has.used, has.created)
        answers[name] = confirm(
            api, person, enrolment, of(fresh, enrolment["shown"]["publicKey"], forge)
        )
    assert_none_accepted(answers, {"error.factor-invalid", "error.validation-failed"}, least=220)
    assert api.get("/users/me/factors", by=person).json["data"] == []


def test_a_sample_of_forged_second_factors_is_refused_within_the_tries(api: Api) -> None:
    person = api.person()
    device, other = enrol(api, person), enrol(api, api.person())
    challenge = new_challenge(api)
    used = device.get(challenge["publicKey"])
    assert meet(api, challenge, used).status_code == 200
    forgeries = list(forged_logins().items())
    sample = forgeries[3 :: len(forgeries) // DAILY_TRIES][: DAILY_TRIES - 1]
    answers = {}
    for number, (name, forge) in enumerate(sample):
        if number % TRIES == 0:
            challenge = challenged(api.log_in(person.email))
        has = Forger(device, other, challenge["publicKey"], used, used)
        answers[name] = meet(api, challenge, forge(has))
    assert_none_accepted(
        answers, {"error.invalid-credentials", "error.validation-failed"}, least=DAILY_TRIES - 2
    )


@pytest.mark.parametrize("way", ["alone", "second"])
def test_of_parallel_uses_of_a_challenge_one_succeeds(
    api: Api, config: Path, clock: ManualClock, way: str
) -> None:
    person = api.person()
    device = enrol(api, person, SoftwareAuthenticator(ORIGIN, is_synced=False))
    with Api.running(config, clock) as other_node:

        def prepare() -> Sequence[Contender]:
            # The next day, because the tries of a user are limited per day.
            clock.advance(24 * 60 * MINUTE)
            is_alone = way == "alone"
            challenge = new_challenge(api) if is_alone else challenged(api.log_in(person.email))
            answer = device.get(challenge["publicKey"])
            return [partial(meet, node, challenge, answer) for node in (api, other_node)] * (WAYS // 2)

        rounds = campaign_size("PASSKEY_RACES", 3)
        assert race(prepare, require_one, rounds=rounds, seconds=60.0 * rounds) == rounds


def require_one(answers: Sequence[Answer]) -> None:
    """Require that one of the answers has logged in."""
    statuses = [answer.status_code for answer in answers]
    assert (statuses.count(200), set(statuses)) == (1, {200, 401}), statuses
