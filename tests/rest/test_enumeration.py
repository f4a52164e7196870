"""Neither a response nor its duration reveals whether an account exists."""

import base64
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import get_ident
from typing import Any

import bcrypt
import pytest
from sqlalchemy import Engine, event, update
from tests.support.api import PASSWORD, Answer, Api
from tests.support.config import lifted
from tests.support.hashers import make_hasher
from tests.support.timing import busy_wait, differences, differs

from strongroom.activity.notifications.service import MessageService
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.models import passwords
from strongroom.testing.clock import HOUR

KNOWN, UNKNOWN = "known@example.com", "other@example.com"
NEW_PASSWORD = "Another2Battery"
PAIRS, TRIES = 160, 3
LEAK_SECONDS = 0.001

Attempt = Callable[[Api, str], Answer]


pytestmark = pytest.mark.config(
    lifted("login_per_address", "captchas_per_address", "code_per_device", "code_per_address"),
    {
        "limits": {
            "login_failures_before_captcha": 1000,
            "available_per_address": ["1/day"],
            "code_per_recipient": ["2/hour"],
        }
    },
)


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


class QuietSender:
    """Takes every message, as a gateway would."""

    name = "quiet"
    development_only = False

    def can_send(self, template: str, recipient: str | None = None) -> bool:
        """Return that it takes every message."""
        return True

    def send(self, message: object) -> None:
        """Send it nowhere."""


def transactions(action: Callable[[], object]) -> Counter[str]:
    """Return how often a request began, committed and rolled back; what others do is not counted."""
    counted: Counter[str] = Counter()
    here = get_ident()

    def counting_as(name: str) -> Callable[[object], None]:
        def count(_: object) -> None:
            counted[name] += get_ident() == here

        return count

    # Of all engines, for what need not be durable has one of its own.
    listeners = [(name, counting_as(name)) for name in ("begin", "commit", "rollback")]
    for name, listener in listeners:
        event.listen(Engine, name, listener)
    action()
    for name, listener in listeners:
        event.remove(Engine, name, listener)
    assert counted["begin"] > 0
    return Counter(counted)


only_alone = pytest.mark.skipif(
    "STRONGROOM_TEST_TIMING" not in os.environ,
    reason="times differ with what else the machine does: make test-timing runs these by themselves",
)
only_sqlite = pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)


class Timing:
    """Measures response times."""

    @pytest.fixture(autouse=True)
    def pool(self, api: Api, monkeypatch: pytest.MonkeyPatch) -> Iterator[ThreadPoolExecutor]:
        """Messages go as in production: in the background, by a sender that is not waited for."""
        messages = api.container.get(MessageService)
        monkeypatch.setattr(messages, "senders", {"email": [QuietSender()]})
        with ThreadPoolExecutor(1) as pool:
            monkeypatch.setattr(messages, "_pool", pool)
            yield pool

    def measure(self, api: Api, pool: ThreadPoolExecutor, attempt: Attempt) -> list[float]:
        """Return by how much longer the known take, pair by pair."""

        def settle() -> None:
            # No limit is ever reached, and no message of before is still on its way.
            api.clock.advance(HOUR)
            pool.submit(int).result()

        known, unknown = (partial(attempt, api, who) for who in (KNOWN, UNKNOWN))
        # Create objects that a process creates once.
        known(), unknown()
        return differences(known, unknown, settle, pairs=PAIRS, tries=TRIES)


@only_alone
@only_sqlite
class TestTiming(Timing):
    """Response times, which must not reveal accounts."""

    @pytest.mark.parametrize("attempt", [log_in, reset, request_code, is_available])
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
