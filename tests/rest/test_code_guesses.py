"""Guessing verification codes: which guesses are evaluated, and whose budget pays for them."""

from collections import Counter
from functools import partial
from typing import Any

import pytest
from tests.support.api import PASSWORD, Answer, Api, Json, error_code
from tests.support.campaign import campaign_size
from tests.support.config import SMS_LOGIN, lifted
from tests.support.http import at_once

from strongroom.identity.verification.codes import CodeService
from strongroom.testing.clock import HOUR, MINUTE, ManualClock

KNOWN, UNKNOWN = "known@example.com", "unknown@example.com"
NUMBER = "13800138000"
NEW_PASSWORD = "Another2Battery"
INVENTED = {"id": "01a1fd35-41a4-7159-832d-f9df39268981", "code": "000000"}
GUESSERS = 64
ROUNDS = campaign_size("GUESS_ROUNDS", 1)


pytestmark = [
    pytest.mark.both_databases,
    pytest.mark.config(
        SMS_LOGIN,
        lifted(
            "code_per_recipient",
            "code_per_device",
            "code_per_address",
            "captchas_per_address",
            "reset_per_address",
        ),
        {"limits": {"unknown_codes_per_address": ["8/hour"]}},
    ),
]


@pytest.fixture(autouse=True)
def known(api: Api) -> None:
    api.person(email=KNOWN, mobile=NUMBER)


def reset(api: Api, name: str, code: Json, address: str = "192.0.2.1") -> Answer:
    body = {"verificationCode": code, "newPassword": NEW_PASSWORD}
    overrides = {"REMOTE_ADDR": address}
    return api.post(f"/users/{name}/reset-password", body, environ_overrides=overrides)


def wrong(code: Json) -> Json:
    return {**code, "code": "000000" if code["code"] != "000000" else "999999"}


def requested(api: Api, name: str, device: str) -> Json:
    """Return the id of a code that a device has requested, with a wrong code."""
    response = api.request_code(name, "reset-password", headers={"X-Device-Id": device})
    assert response.status_code == 201
    return {"id": response.json["id"], "code": "wrong"}


def test_invented_ids_void_no_code(api: Api) -> None:
    assert [reset(api, KNOWN, INVENTED).status_code for _ in range(8)] == [400] * 8
    code = api.code(KNOWN, "reset-password")
    assert reset(api, KNOWN, code, "192.0.2.2").status_code == 200


def test_invented_ids_count_against_the_address_that_sends_them(api: Api) -> None:
    statuses = [reset(api, KNOWN, INVENTED).status_code for _ in range(9)]
    assert statuses == [400] * 8 + [429]
    refused = reset(api, UNKNOWN, INVENTED)
    assert (error_code(refused), refused.headers["Retry-After"]) == ("error.too-many-requests", "3600")
    assert reset(api, KNOWN, INVENTED, "192.0.2.2").status_code == 400
    # A code that exists is still accepted from there.
    assert reset(api, KNOWN, api.code(KNOWN, "reset-password")).status_code == 200


def test_a_stranger_who_requests_a_code_voids_only_that_code(api: Api) -> None:
    own = api.code(KNOWN, "reset-password", "phone of the user")
    strangers = requested(api, KNOWN, "phone of the stranger")
    statuses = [reset(api, KNOWN, strangers).status_code for _ in range(7)]
    assert statuses == [400] * 5 + [429] * 2
    assert reset(api, KNOWN, own).status_code == 200


def test_a_spent_code_is_answered_alike_for_known_and_unknown(api: Api) -> None:
    answers = []
    for name in (KNOWN, UNKNOWN):
        code = requested(api, name, name)
        refusals = [reset(api, name, code) for _ in range(6)]
        answers.append([(answer.status_code, answer.headers.get("Retry-After")) for answer in refusals])
    assert answers[0] == answers[1] == [(400, None)] * 5 + [(429, "300")]


def test_a_code_repeated_is_no_guess(api: Api) -> None:
    code = api.code(KNOWN, "reset-password")
    assert reset(api, KNOWN, code).status_code == 200
    assert [reset(api, KNOWN, code).status_code for _ in range(10)] == [400] * 10


def test_a_login_by_a_spent_code_is_429(api: Api) -> None:
    code = api.code(NUMBER, "login")
    attempts = [api.log_in(NUMBER, None, verificationCode=wrong(code)) for _ in range(6)]
    assert [attempt.status_code for attempt in attempts] == [401] * 5 + [429]
    refused = api.log_in(NUMBER, None, verificationCode=code)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "300")


def test_a_recipient_has_twenty_wrong_guesses_a_day(api: Api, clock: ManualClock) -> None:
    for hour in range(4):
        code = requested(api, KNOWN, f"device {hour}")
        assert [reset(api, KNOWN, code).status_code for _ in range(5)] == [400] * 5
        clock.advance(HOUR)
    code = api.code(KNOWN, "reset-password")
    refused = reset(api, KNOWN, code)
    assert (refused.status_code, refused.headers["Retry-After"]) == (429, str(20 * 3600))
    assert reset(api, UNKNOWN, requested(api, UNKNOWN, "device")).status_code == 400
    clock.advance(20 * HOUR)
    assert reset(api, KNOWN, api.code(KNOWN, "reset-password")).status_code == 200


@pytest.mark.parametrize("number", range(ROUNDS))
def test_parallel_guessers_are_evaluated_no_more_often_than_the_budgets_say(
    api: Api, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    evaluated: list[Any] = []
    consume = CodeService._consume

    def count(self: CodeService, *arguments: Any) -> bool:
        evaluated.append(arguments)
        return consume(self, *arguments)

    monkeypatch.setattr(CodeService, "_consume", count)
    wanted = [5, 10, 15, 20, 20]
    for round_number, total in enumerate(wanted):
        code = requested(api, KNOWN, f"{number} {round_number}")
        answers = Counter(
            answer.status_code for answer in at_once([partial(reset, api, KNOWN, code)] * GUESSERS)
        )
        assert len(evaluated) == total
        assert answers[400] == total - (wanted[round_number - 1] if round_number else 0)
        clock.advance(6 * MINUTE)
    assert api.log_in(KNOWN, PASSWORD).status_code == 200


def test_after_a_reset_the_next_login_needs_no_captcha(api: Api) -> None:
    for name in (KNOWN, NUMBER):
        for _ in range(3):
            api.log_in(name, "Wrong1Password")
        assert error_code(api.log_in(name)) == "error.captcha-required"
    assert reset(api, KNOWN, api.code(KNOWN, "reset-password")).status_code == 200
    for name in (KNOWN, NUMBER):
        assert api.log_in(name, NEW_PASSWORD).status_code == 200
