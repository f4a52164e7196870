"""DingTalk for tests: a simulated platform, the server's configuration for it, and its people."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from strongroom_simulators.dingtalk import Platform, PlatformApp, Simulator, sample_platform
from strongroom_simulators.dingtalk.samples import COMPANY
from tests.support.api import Answer, Api, Person
from tests.support.config import Table, lifted
from tests.support.wechat import Browser

REQUESTS: Final = "/api/v1/dingtalk-authorization-requests"
AUTHORIZATIONS: Final = "/api/v1/dingtalk-authorizations"
CALLBACK: Final = f"{AUTHORIZATIONS}/callback/main"
IDS: Final = "/api/v1/users/me/dingtalk-ids"
_MANY: Final = 10_000
"""Calls a second: no test waits for the limits of the platform."""


@dataclass
class DingTalk:
    """A platform with one app, and where it listens."""

    platform: Platform
    app: PlatformApp
    url: str

    def code(self, person: str) -> str:
        """Let a person confirm a login in a browser; return the code."""
        return self.platform.confirm(self.app.client_id, person)

    def in_app_code(self, person: str) -> str:
        """Let a member open a page in DingTalk; return the code of ``dd.getAuthCode``."""
        return self.platform.open_app(self.app.client_id, person)

    def config(self, *, app: Table | None = None, **options: Any) -> Table:
        """Return the changes to a configuration.

        Args:
            app: further keys of the app.
            options: further keys of the section ``[login.dingtalk]``.
        """
        urls = dict.fromkeys(("login_url", "api_url", "oapi_url"), self.url)
        apps = {"main": {**app_options(self.app), **(app or {})}}
        login = {"methods": ["password", "dingtalk"], "dingtalk": {**urls, "apps": apps, **options}}
        plugins = {"enabled": ["storage_local", "login_dingtalk"]}
        return {"plugins": plugins, "login": login, **lifted()}


def app_options(app: PlatformApp) -> Table:
    """Return the options of an app in the configuration."""
    return {"client_id": app.client_id, "client_secret": app.client_secret}


@contextmanager
def dingtalk() -> Iterator[DingTalk]:
    """Run a platform with the sample people."""
    app = PlatformApp("dingplantedapp01", "planted-ding-secret", COMPANY, hosts=("127.0.0.1",))
    with Simulator(sample_platform(app, calls_a_second=_MANY)) as simulator:
        yield DingTalk(simulator.platform, app, simulator.url)


@dataclass
class DingTalkLogins:
    """Logs DingTalk's people into the server, each in a browser of their own."""

    api: Api
    dingtalk: DingTalk

    def state(self, browser: Browser, by: Person | None = None) -> str:
        """Begin a login, or a binding of a user; return its state."""
        answer = browser.post(REQUESTS, {"purpose": "bind" if by else "login"}, by)
        assert answer.status_code == 201, answer.text
        state: str = answer.json["state"]
        return state

    def scan(self, person: str, browser: Browser | None = None) -> Answer:
        """Let a person scan the QR code of a browser."""
        browser = browser or Browser(self.api)
        state = self.state(browser)
        return browser.post(AUTHORIZATIONS, {"state": state, "code": self.dingtalk.code(person)})

    def open_app(self, person: str) -> Answer:
        """Let a member open a page in DingTalk."""
        browser = Browser(self.api)
        body = {"state": self.state(browser), "code": self.dingtalk.in_app_code(person)}
        return browser.post(AUTHORIZATIONS, {**body, "inApp": "true"})

    def person(self, answer: Answer) -> Person:
        """Return who has logged in."""
        assert answer.status_code == 200, answer.text
        return Person(answer.json["user"]["id"], "", answer.json["accessToken"])
