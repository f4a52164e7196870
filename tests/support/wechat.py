"""WeChat for tests: a simulated platform, the server's configuration for it, and browsers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from strongroom.plugin_api.host import Clock
from strongroom_simulators.wechat import (
    MINI_PROGRAM,
    WEBSITE,
    Platform,
    PlatformApp,
    Simulator,
    sample_platform,
)
from tests.support.api import Answer, Api, Json, Person
from tests.support.config import Table, lifted

ACCOUNT = "an-account"
CALLBACK = "/api/v1/wechat-authorizations/callback"

APPS = {
    "site": PlatformApp("wx00000000000000a1", "planted-site-secret", WEBSITE, domain="127.0.0.1"),
    "shop": PlatformApp("wx00000000000000a2", "planted-shop-secret", WEBSITE, domain="127.0.0.1"),
    "mini": PlatformApp("wx00000000000000b1", "planted-mini-secret", MINI_PROGRAM),
}


@dataclass
class WeChat:
    """A platform, its apps under their names in the configuration, and where it listens."""

    platform: Platform
    apps: dict[str, PlatformApp]
    url: str

    def code(self, app: str, person: str) -> str:
        """Let a person confirm a scan, or open a mini program; return the code."""
        known = self.apps[app]
        act = self.platform.scan if known.kind == WEBSITE else self.platform.log_in
        return act(known.appid, person)

    def phone_code(self, app: str, person: str) -> str:
        """Let a person give a mini program the phone number; return the code."""
        return self.platform.give_phone_number(self.apps[app].appid, person)

    def follow(self, clock: Clock) -> None:
        """Set the platform's clock to the time of a server."""
        self.platform.clock.advance(clock.now() / 1000 - self.platform.clock())

    def join_account(self, *apps: str) -> None:
        """Put apps into the one open-platform account, so that their people have a unionid."""
        for app in apps:
            self.apps[app].account = ACCOUNT

    def config(self, server_url: str, *, register: bool = True) -> Table:
        """Return the changes to a configuration: login by WeChat, for users who bind again and again."""
        wechat = {"open_url": self.url, "api_url": self.url, "attempts": 1, "register": register}
        apps = {name: app_options(app, server_url) for name, app in self.apps.items()}
        login = {"methods": ["password", "wechat"], "wechat": {**wechat, "apps": apps}}
        rates = lifted("login_per_address", "captchas_per_address", "code_per_recipient")
        return {"plugins": {"enabled": ["storage_local", "login_wechat"]}, "login": login, **rates}


def app_options(app: PlatformApp, server_url: str) -> Table:
    """Return the options of an app in the configuration."""
    options = {"kind": app.kind, "appid": app.appid, "secret": app.secret, "trust_mobile": True}
    callback = {"redirect_uri": f"{server_url}{CALLBACK}"} if app.kind == WEBSITE else {}
    return options | callback


@contextmanager
def wechat(*, denial_redirects: bool = True) -> Iterator[WeChat]:
    """Run a platform whose apps are in no open-platform account yet."""
    apps = {
        name: PlatformApp(app.appid, app.secret, app.kind, domain=app.domain)
        for name, app in APPS.items()
    }
    platform = sample_platform(*apps.values(), denial_redirects=denial_redirects)
    with Simulator(platform) as simulator:
        yield WeChat(platform, apps, simulator.url)


class Browser:
    """Keeps the one cookie that the server sets."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self.cookie = ""

    def post(self, path: str, body: Any, by: Person | None = None) -> Answer:
        """Send a request with a JSON body."""
        headers = {"Authorization": f"Bearer {by.token}"} if by else {}
        # The client's own jar would leave this one out.
        client = self._api.app.test_client(use_cookies=False)
        sent = {**headers, "Cookie": self.cookie}
        answer = Answer(client.open(path, method="POST", json=body, headers=sent))
        if "Set-Cookie" in answer.headers:
            self.cookie = answer.headers["Set-Cookie"].partition(";")[0]
        return answer

    def state(self, app: str = "site", **more: Any) -> str:
        """Get a QR code; return its state."""
        response = self.post("/api/v1/wechat-qr-codes", {"app": app, **more})
        assert response.status_code == 201, response.text
        state: str = response.json["state"]
        return state

    def bind_state(self, by: Person, app: str = "site") -> str:
        """Get a QR code for binding; return its state."""
        response = self.post("/api/v1/wechat-qr-codes", {"app": app, "purpose": "bind"}, by)
        assert response.status_code == 201, response.text
        state: str = response.json["state"]
        return state


@dataclass
class Logins:
    """Logs WeChat's people into the server."""

    api: Api
    wechat: WeChat

    def scan(self, person: str, app: str = "site") -> Answer:
        """Let a person scan a website's code, in a browser of their own."""
        browser = Browser(self.api)
        body = {"state": browser.state(app), "code": self.wechat.code(app, person)}
        return browser.post("/api/v1/wechat-authorizations", body)

    def open_mini_program(self, person: str, *, phone: bool = False) -> Answer:
        """Open the mini program as a person; it may request the phone number."""
        body = {"code": self.wechat.code("mini", person)}
        if phone:
            body["phoneCode"] = self.wechat.phone_code("mini", person)
        return self.api.post("/api/v1/miniProgram-authorization", body)

    def log_in(self, person: str, app: str) -> Answer:
        """Log a person in with the kind of the app."""
        return self.open_mini_program(person) if app == "mini" else self.scan(person, app)

    def person(self, answer: Answer) -> Person:
        """Return who has logged in."""
        assert answer.status_code == 200, answer.text
        return Person(answer.json["user"]["id"], "", answer.json["accessToken"])

    def proof(self, by: Person) -> Json:
        """Return what binding needs besides the token: a code to a contact, if there is one."""
        held = dict(sorted(self.held(by)))
        contact = held.get("email") or held.get("mobile")
        return {"heldCode": self.api.code(contact, "bind")} if contact else {}

    def bind(self, by: Person, person: str, app: str, proof: Json | None = None) -> Answer:
        """Bind a WeChat account to a user."""
        path, code = "/api/v1/users/me/wechatIds", self.wechat.code(app, person)
        body = {"code": code, **(self.proof(by) if proof is None else proof)}
        if app == "mini":
            return self.api.post(path, body, by=by)
        browser = Browser(self.api)
        return browser.post(path, {**body, "state": browser.bind_state(by, app)}, by)

    def unbind(self, by: Person, contact: str) -> Answer:
        """Unbind a user's WeChat account by a code sent to an address."""
        code = self.api.code(contact, "unbind")
        headers = {"X-Verification-Code": f"{code['id']}.{code['code']}"}
        return self.api.delete("/api/v1/users/me/wechatIds", by=by, headers=headers)

    def held(self, by: Person) -> set[tuple[str, str]]:
        """Return a user's credentials by kind, without the names of apps and accounts."""
        listed = self.api.get("/users/me/credentials", by=by).json["data"]
        return {(item["kind"], item["value"]) for item in listed}
