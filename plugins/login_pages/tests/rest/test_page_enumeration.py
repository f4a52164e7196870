"""Neither a page nor its duration reveals whether a contact has an account."""

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

import pytest
from tests.support.api import PASSWORD, Answer, Api
from tests.support.config import FIXED_CAPTCHA, Table, lifted, merged
from tests.support.databases import on_sqlite
from tests.support.enumeration import KNOWN, UNKNOWN, Timing, only_alone, transactions
from tests.support.page_browser import PageBrowser
from tests.support.timing import busy_wait, differs

from strongroom.identity.users.credentials import CredentialService

LEAK_SECONDS: Final = 0.001
CONFIG: Table = merged(
    FIXED_CAPTCHA,
    lifted(),
    {
        "limits": {"login_failures_before_captcha": 1000},
        "plugins": {"enabled": ["storage_local", "login_email", "login_pages"]},
        "login": {"methods": ["password", "email_code"]},
    },
)
CLOSED: Table = merged(CONFIG, {"users": {"registration": "closed"}})
"""Without registration, no code is sent to an unknown contact."""

RANDOM: Final = {
    "secret": r'name="csrf" value="[\w-]{20,}"',
    "captcha": r'name="captcha" value="[\w-]{20,}"',
    "nonce": r"nonce(-|=\")[\w-]{10,}",
}

pytestmark = [on_sqlite, pytest.mark.config(CONFIG)]

Send = Callable[["Sender", str], list[Answer]]


class Sender:
    """A browser that sends forms, as often as a measurement needs."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._browser = PageBrowser(api)
        self._browser.open("/account/login")
        self._csrf = self._browser.forms["/account/login"]["csrf"]

    def send(self, path: str, **fields: str) -> Answer:
        """Send a form."""
        return self._browser.request(f"/account/{path}", {"csrf": self._csrf, **fields})

    def send_with_captcha(self, path: str, **fields: str) -> Answer:
        """Send a form with a solved captcha."""
        captcha = self._api.page_captcha(path)
        return self.send(path, captcha=captcha["id"], captchaAnswer=captcha["answer"], **fields)

    def open(self, path: str) -> Answer:
        """Open a page."""
        return self._browser.request(f"/account/{path}")


def log_in(sender: Sender, name: str) -> list[Answer]:
    return [sender.send("login", username=name, password="Wrong1Horse")]


def request_login_code(sender: Sender, name: str) -> list[Answer]:
    return [
        sender.send("login", username=name, way="code"),
        sender.send_with_captcha("login/code"),
        sender.open("login/code/entry"),
        sender.send("login/code/entry", code="000000"),
    ]


def forget(sender: Sender, name: str) -> list[Answer]:
    return [sender.send_with_captcha("forgot", username=name), sender.open("reset")]


def reset(sender: Sender, name: str) -> list[Answer]:
    sent = forget(sender, name)
    return [*sent, sender.send("reset", code="000000", newPassword="Another2Battery")]


def begin_registration(sender: Sender, name: str) -> list[Answer]:
    sent = sender.send_with_captcha("register", username=name, name="Alice")
    return [sent, sender.open("register/code")]


def register(sender: Sender, name: str) -> list[Answer]:
    sent = begin_registration(sender, name)
    return [*sent, sender.send("register/code", code="000000", newPassword=PASSWORD)]


PAGES: dict[str, tuple[Send, list[int]]] = {
    "login": (log_in, [400]),
    "login/code": (request_login_code, [303, 303, 200, 400]),
    "forgot": (forget, [303, 200]),
    "reset": (reset, [303, 200, 400]),
    "register": (begin_registration, [303, 200]),
    "register/code": (register, [303, 200, 400]),
}
OF_ACCOUNTS: Final = [page for page in PAGES if not page.startswith("register")]
"""The pages of a server without registration."""


@pytest.fixture(autouse=True)
def known(api: Api) -> None:
    api.person(email=KNOWN)


def stable_parts(answer: Answer, name: str) -> tuple[int, str, list[tuple[str, str]]]:
    """Return a response without its random parts and the name that it repeats."""
    text = answer.text.replace(name, "NAME")
    headers = [
        (key, value) for key, value in answer.headers if key not in {"X-Request-Id", "Set-Cookie"}
    ]
    return answer.status_code, without_secrets(text), [(k, without_secrets(v)) for k, v in headers]


def without_secrets(text: str) -> str:
    for name, pattern in RANDOM.items():
        text = re.sub(pattern, name, text)
    return text


def cookies_of(answer: Answer) -> list[tuple[str, int]]:
    """Return the names and lengths of the cookies that a response sets."""
    pairs = (value.partition(";")[0].partition("=") for value in answer.headers.getlist("Set-Cookie"))
    return [(name, len(value)) for name, _, value in pairs]


def compare(api: Api, page: str) -> None:
    send, statuses = PAGES[page]
    known, unknown = (send(Sender(api), name) for name in (KNOWN, UNKNOWN))
    assert [answer.status_code for answer in known] == statuses
    for one, other in zip(known, unknown, strict=True):
        assert stable_parts(one, KNOWN) == stable_parts(other, UNKNOWN)
        assert cookies_of(one) == cookies_of(other)


@pytest.mark.parametrize("page", PAGES)
def test_pages_do_not_distinguish_known_from_unknown(api: Api, page: str) -> None:
    compare(api, page)


@pytest.mark.config(CLOSED)
@pytest.mark.parametrize("page", OF_ACCOUNTS)
def test_pages_do_not_distinguish_them_without_registration(api: Api, page: str) -> None:
    compare(api, page)


@only_alone
class TestTiming(Timing):
    """Response times of pages, which must not reveal accounts."""

    @pytest.fixture
    def sender(self, api: Api, known: None) -> Sender:
        return Sender(api)

    def attempt(self, sender: Sender, page: str) -> Callable[[Api, str], Any]:
        return lambda _, name: PAGES[page][0](sender, name)

    @pytest.mark.parametrize("page", PAGES)
    def test_known_and_unknown_cost_as_many_transactions(
        self, api: Api, pool: ThreadPoolExecutor, page: str
    ) -> None:
        known, unknown = (
            transactions(partial(PAGES[page][0], Sender(api), name)) for name in (KNOWN, UNKNOWN)
        )
        assert known == unknown

    @pytest.mark.parametrize("page", PAGES)
    def test_durations_do_not_distinguish_known_from_unknown(
        self, api: Api, pool: ThreadPoolExecutor, sender: Sender, page: str
    ) -> None:
        assert not differs(self.measure(api, pool, self.attempt(sender, page)))

    @pytest.mark.config(CLOSED)
    @pytest.mark.parametrize("page", OF_ACCOUNTS)
    def test_durations_do_not_distinguish_them_without_registration(
        self, api: Api, pool: ThreadPoolExecutor, sender: Sender, page: str
    ) -> None:
        assert not differs(self.measure(api, pool, self.attempt(sender, page)))

    @pytest.mark.parametrize("page", ["login", "forgot"])
    def test_a_millisecond_more_for_the_known_would_be_seen(
        self,
        api: Api,
        pool: ThreadPoolExecutor,
        sender: Sender,
        page: str,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        find_users = CredentialService.find_users

        def find_slowly(self: CredentialService, *arguments: Any) -> Any:
            users = find_users(self, *arguments)
            if users:
                busy_wait(LEAK_SECONDS)
            return users

        monkeypatch.setattr(CredentialService, "find_users", find_slowly)
        assert differs(self.measure(api, pool, self.attempt(sender, page)))
