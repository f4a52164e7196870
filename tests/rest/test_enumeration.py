"""Neither a response nor its duration reveals whether an account exists."""

import base64
import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import bcrypt
import pytest
from sqlalchemy import update
from tests.support.api import PASSWORD, Answer, Api
from tests.support.config import Table, lifted, merged
from tests.support.enumeration import KNOWN, UNKNOWN, Timing, only_alone, only_sqlite, transactions
from tests.support.hashers import make_hasher
from tests.support.timing import busy_wait, differs

from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import passwords
from strongroom.testing.clock import HOUR

NEW_PASSWORD = "Another2Battery"
LEAK_SECONDS = 0.001

Attempt = Callable[[Api, str], Answer]

LIMITS: Table = merged(
    lifted("login_per_address", "captchas_per_address", "code_per_device", "code_per_address"),
    {
        "limits": {
            "login_failures_before_captcha": 1000,
            "available_per_address": ["1/day"],
            "code_per_recipient": ["2/hour"],
        }
    },
)
EMAIL_LOGIN: Table = {
    "plugins": {"enabled": ["storage_local", "login_email", "login_pages"]},
    "login": {"methods": ["password", "email_code"]},
    "users": {"registration": "closed"},
}
"""Logins by e-mail that create no users, so an unknown address gets no message."""

pytestmark = pytest.mark.config(LIMITS)


@pytest.fixture(autouse=True)
def known(api: Api) -> None:
    api.person(email=KNOWN)
    # The only attempt of the day that needs no captcha.
    assert is_available(api, "first@example.com").status_code == 200


def log_in(api: Api, name: str) -> Answer:
    return api.log_in(name, "Wrong1Horse")


def reset(api: Api, name: str) -> Answer:
    code = {"id": "0" * 32, "code": "000000"}
    body = {"verificationCode": code, "newPassword": NEW_PASSWORD}
    return api.post(f"/users/{name}/reset-password", body)


def request_code(api: Api, name: str) -> Answer:
    return api.request_code(name, "reset-password")


def request_registration_code(api: Api, name: str) -> Answer:
    return api.request_code(name, "register")


def request_login_link(api: Api, name: str) -> Answer:
    body = {"recipient": name, "purpose": "login", "captcha": api.captcha(), "link": True}
    return api.post("/verification-codes", body)


def is_available(api: Api, name: str) -> Answer:
    return api.get(f"/credentials/{name}/available")


def is_available_by_a_wrong_captcha(api: Api, name: str) -> Answer:
    headers = {"X-Captcha": f"{api.captcha()['id']}.41"}
    return api.get(f"/credentials/{name}/available", headers=headers)


ATTEMPTS: dict[str, tuple[Attempt, int, list[int]]] = {
    # The request, how often it is sent, and the expected statuses.
    "login": (log_in, 2, [401, 401]),
    "reset-password": (reset, 7, [400] * 7),
    "send-code": (request_code, 3, [201, 201, 429]),
    "send-registration-code": (request_registration_code, 3, [201, 201, 429]),
    "available": (is_available, 2, [400, 400]),
    "available by a wrong captcha": (is_available_by_a_wrong_captcha, 2, [400, 400]),
}


def stable_parts(answer: Answer) -> tuple[int, Any, list[tuple[str, str]]]:
    """Return an answer without its random parts."""
    body = {name: value for name, value in answer.json.items() if name not in {"id", "requestId"}}
    error = body.get("error")
    if error:
        body["error"] = {name: value for name, value in error.items() if name != "requestId"}
    headers = [
        (name, value) for name, value in answer.headers if name not in {"X-Request-Id", "X-Device-Id"}
    ]
    return answer.status_code, body, headers


@pytest.mark.parametrize("name", ATTEMPTS)
def test_responses_do_not_distinguish_known_from_unknown(api: Api, name: str) -> None:
    attempt, times, statuses = ATTEMPTS[name]
    known, unknown = (
        [stable_parts(attempt(api, who)) for _ in range(times)] for who in (KNOWN, UNKNOWN)
    )
    assert known == unknown
    assert [status for status, _, _ in known] == statuses


@pytest.mark.config(LIMITS, EMAIL_LOGIN)
def test_responses_to_requests_for_login_codes_do_not_distinguish_known_from_unknown(api: Api) -> None:
    known, unknown = (
        [stable_parts(request_login_link(api, who)) for _ in range(3)] for who in (KNOWN, UNKNOWN)
    )
    assert known == unknown
    assert [status for status, _, _ in known] == [201, 201, 429]
    assert [message["recipient"] for message in api.outbox()] == [KNOWN, KNOWN]


def test_a_solved_captcha_permits_only_one_response(api: Api) -> None:
    known, unknown = (stable_parts(available_by_captcha(api, who)) for who in (KNOWN, UNKNOWN))
    assert (known[0], known[1]) == (200, {"available": False})
    assert (unknown[0], unknown[1]) == (200, {"available": True})
    assert without_length(known[2]) == without_length(unknown[2])


def available_by_captcha(api: Api, name: str) -> Answer:
    captcha = api.captcha()
    headers = {"X-Captcha": f"{captcha['id']}.{captcha['answer']}"}
    return api.get(f"/credentials/{name}/available", headers=headers)


def without_length(headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
    # The body says "true" or "false".
    return [(name, value) for name, value in headers if name not in {"Content-Length", "ETag"}]


@pytest.mark.config({"passwords": {"bcrypt_cost": 7}})
class TestRaisedCost:
    """The cost of password hashes was raised since the known user has logged in."""

    @pytest.fixture
    def rounds(self, api: Api, known: None, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The rounds of every hash that is computed; the known user's has less."""
        key = api.container.base.keys.derive("passwords")
        cheap = make_hasher(key, cost=4).hash(PASSWORD).hash
        with api.container.database.write() as connection:
            connection.execute(update(passwords).values(hash=cheap))
        counted: list[int] = []
        for name in ("checkpw", "hashpw"):
            monkeypatch.setattr(bcrypt, name, counting(counted, getattr(bcrypt, name)))
        return counted

    def test_a_failed_login_costs_as_many_rounds_for_the_known_as_for_the_unknown(
        self, api: Api, rounds: list[int]
    ) -> None:
        # Create objects that a process creates once.
        log_in(api, UNKNOWN)
        counted = {}
        for name in (KNOWN, UNKNOWN):
            rounds.clear()
            assert log_in(api, name).status_code == 401
            counted[name] = sum(rounds)
        assert counted == {KNOWN: 2**7, UNKNOWN: 2**7}

    def test_the_next_login_raises_it_for_the_known(self, api: Api, rounds: list[int]) -> None:
        assert api.log_in(KNOWN).status_code == 200
        rounds.clear()
        assert api.log_in(KNOWN).status_code == 200
        assert rounds == [2**7]


def counting(counted: list[int], work: Callable[[bytes, bytes], Any]) -> Callable[[bytes, bytes], Any]:
    """Return a function of bcrypt's that writes down how many rounds it takes."""

    def wrapped(password: bytes, salt: bytes) -> Any:
        counted.append(2 ** int(salt.split(b"$")[2]))
        return work(password, salt)

    return wrapped


@only_alone
@only_sqlite
class TestTiming(Timing):
    """Response times, which must not reveal accounts."""

    # Not "available": it only reads, by statements that begin no transaction on SQLite.
    @pytest.mark.parametrize("attempt", [log_in, reset, request_code])
    def test_known_and_unknown_cost_as_many_transactions(
        self, api: Api, pool: ThreadPoolExecutor, attempt: Attempt
    ) -> None:
        assert transactions(partial(attempt, api, KNOWN)) == transactions(partial(attempt, api, UNKNOWN))

    @pytest.mark.parametrize("attempt", [log_in, reset, is_available])
    def test_durations_do_not_distinguish_known_from_unknown(
        self, api: Api, pool: ThreadPoolExecutor, attempt: Attempt
    ) -> None:
        assert not differs(self.measure(api, pool, attempt))

    def test_durations_do_not_reveal_the_recipient_of_a_code(
        self, api: Api, pool: ThreadPoolExecutor
    ) -> None:
        assert not differs(self.measure(api, pool, request_code))

    @pytest.mark.parametrize("attempt", [log_in, request_code])
    def test_a_millisecond_more_for_the_known_would_be_seen(
        self, api: Api, pool: ThreadPoolExecutor, attempt: Attempt, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        find_users = CredentialService.find_users

        def find_slowly(self: CredentialService, *arguments: Any) -> Any:
            found = find_users(self, *arguments)
            if found:
                busy_wait(LEAK_SECONDS)
            return found

        monkeypatch.setattr(CredentialService, "find_users", find_slowly)
        assert differs(self.measure(api, pool, attempt))


@only_alone
@only_sqlite
@pytest.mark.config(LIMITS, EMAIL_LOGIN)
class TestLoginCodeTiming(Timing):
    """Requests for login codes, of which those for unknown addresses send nothing."""

    def test_known_and_unknown_cost_as_many_transactions(
        self, api: Api, pool: ThreadPoolExecutor
    ) -> None:
        known, unknown = (
            transactions(partial(request_login_link, api, who)) for who in (KNOWN, UNKNOWN)
        )
        assert known == unknown

    def test_durations_do_not_reveal_the_recipient(self, api: Api, pool: ThreadPoolExecutor) -> None:
        assert not differs(self.measure(api, pool, request_login_link))


SALT = "0123456789abcdef"


def of_pbkdf2(iterations: int) -> dict[str, str]:
    derived = hashlib.pbkdf2_hmac("sha256", PASSWORD.encode(), SALT.encode(), iterations)
    text = f"pbkdf2_sha256${iterations}${SALT}${base64.b64encode(derived).decode()}"
    return {"algorithm": "django", "hash": text}


MD5 = {
    "algorithm": "auth0",
    "custom_password_hash": {
        "algorithm": "md5",
        "hash": {"value": hashlib.md5(PASSWORD.encode()).hexdigest(), "encoding": "hex"},
    },
}


@only_alone
@only_sqlite
@pytest.mark.config({"plugins": {"enabled": ["storage_local", "password_schemes"]}})
class TestImportedTiming(Timing):
    """Failed logins of users whose imported hash is faster or slower than the server's own."""

    @pytest.mark.parametrize("described", [MD5, of_pbkdf2(10), of_pbkdf2(60_000)])
    def test_durations_do_not_distinguish_an_imported_hash(
        self, api: Api, pool: ThreadPoolExecutor, described: dict[str, Any]
    ) -> None:
        api.imported(described, "imported@example.com")
        # The samples are read.
        api.clock.advance(HOUR)
        for name in (KNOWN, UNKNOWN):

            def attempt(api: Api, who: str, other: str = name) -> Answer:
                return log_in(api, "imported@example.com" if who == KNOWN else other)

            assert not differs(self.measure(api, pool, attempt))
