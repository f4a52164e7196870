"""WeCom for tests: a simulated platform, the server's configuration for it, and browsers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import requests

from strongroom_simulators.wecom import Platform, PlatformApp, Simulator, sample_app, sample_platform
from strongroom_simulators.wecom.codes import BASE
from tests.support.api import Answer, Api, Json, Person
from tests.support.config import Table, lifted
from tests.support.http import TIMEOUT_SECONDS

REQUESTS: Final = "/api/v1/wecom-authorization-requests"
AUTHORIZATIONS: Final = "/api/v1/wecom-authorizations"
BEGIN: Final = f"{AUTHORIZATIONS}/begin"
CALLBACK: Final = f"{AUTHORIZATIONS}/callback/main"
IDS: Final = "/api/v1/users/me/wecom-ids"

IN_APP: Final = "Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 MicroMessenger/7.0.1 wxwork/4.1.30"


@dataclass
class WeCom:
    """A platform with one app, and where it listens."""

    platform: Platform
    app: PlatformApp
    url: str

    def code(self, person: str, scope: str = BASE) -> str:
        """Let a person confirm a login; return the code."""
        return self.platform.confirm(self.app, person, scope)

    def visit(self, url: str, person: str, *, refuse: bool = False, user_agent: str = "") -> str:
        """Decide on an authorization page as a person; return where it leads back to."""
        form = {"person": person, "decision": "refuse" if refuse else "confirm"}
        headers = {"User-Agent": user_agent or "Firefox"}
        answer = requests.post(
            url, data=form, headers=headers, allow_redirects=False, timeout=TIMEOUT_SECONDS
        )
        assert answer.status_code == 302, answer.text
        return answer.headers["Location"]

    def config(self, server_url: str, **app_options: Any) -> Table:
        """Return the changes to a configuration: login by this platform."""
        app = {
            "corpid": self.app.corpid,
            "agentid": self.app.agentid,
            "secret": self.app.secret,
            **app_options,
        }
        urls = dict.fromkeys(("login_url", "open_url", "api_url"), self.url)
        return {
            "server": {"public_url": server_url},
            "plugins": {"enabled": ["storage_local", "login_wecom", "login_pages"]},
            "login": {"methods": ["password", "wecom"], "wecom": {**urls, "apps": {"main": app}}},
            **lifted("login_per_address", "captchas_per_address", "code_per_recipient"),
        }


@contextmanager
def wecom(app: PlatformApp | None = None) -> Iterator[WeCom]:
    """Run a platform with made-up people."""
    app = app or sample_app("127.0.0.1", secret="planted-wecom-secret")
    with Simulator(sample_platform(app)) as simulator:
        yield WeCom(simulator.platform, app, simulator.url)


class Client:
    """A client of the REST API with the one cookie that the server sets."""

    def __init__(self, api: Api) -> None:
        self._client = api.app.test_client()

    def post(self, path: str, body: Json, by: Person | None = None) -> Answer:
        """Send a request with a JSON body."""
        headers = {"Authorization": f"Bearer {by.token}"} if by else {}
        return Answer(self._client.post(path, json=body, headers=headers))

    def begin(self, by: Person | None = None, **body: Any) -> Json:
        """Request the URL of an authorization page; return its members."""
        response = self.post(REQUESTS, body, by)
        assert response.status_code == 201, response.text
        members: Json = response.json
        return members

    def log_in(self, code: str) -> Answer:
        """Log in with a code."""
        return self.post(AUTHORIZATIONS, {"code": code, "state": self.begin()["state"]})


@dataclass
class Logins:
    """Logs WeCom's people into the server."""

    api: Api
    wecom: WeCom

    def log_in(self, person: str, scope: str = BASE) -> Answer:
        """Log a person in by a client of its own."""
        return Client(self.api).log_in(self.wecom.code(person, scope))

    def person(self, answer: Answer) -> Person:
        """Return who has logged in."""
        assert answer.status_code == 200, answer.text
        return Person(answer.json["user"]["id"], "", answer.json["accessToken"])

    def credentials(self, by: Person) -> set[tuple[str, str]]:
        """Return a user's credentials."""
        listed = self.api.get("/users/me/credentials", by=by).json["data"]
        return {(item["kind"], item["value"]) for item in listed}


def answer_of(location: str) -> dict[str, str]:
    """Return the query of a redirect."""
    return {name: values[0] for name, values in parse_qs(urlsplit(location).query).items()}
