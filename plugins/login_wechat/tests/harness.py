"""What the contracts of platforms need to know of WeChat, for both kinds of app."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from tests.support.platform_contacts import NEVER
from tests.support.wechat import APPS, WeChat, app_options

from strongroom.plugin_api.login import Credential
from strongroom.testing.server import LiveServer, Reply
from strongroom_login_oauth.provider import Answer, Provider
from strongroom_login_oauth.testing import (
    MAIN,
    TRUSTING,
    UNPROVEN,
    PlatformContacts,
    PlatformHarness,
    Through,
    make_mobile,
)
from strongroom_login_oauth.testing.rest_client import RestClient
from strongroom_login_wechat.app import OPENID, UNIONID
from strongroom_login_wechat.method import WeChatLogin
from strongroom_simulators.wechat import Person

PERSON = "lin"


@dataclass(frozen=True)
class Verified:
    """What an app has verified about a person."""

    openid: str
    unionid: str | None
    mobile: str | None
    nickname: str | None


def identify(app: Provider, code: str, **parameters: str) -> Verified:
    """Let an app redeem a code."""
    identity = app.identify(Answer(code, parameters=parameters))
    contacts = (contact.credential for contact in identity.contacts)
    ids = {
        item.kind: item.value.rpartition(":")[2]
        for item in (identity.credential, *identity.also, *contacts)
    }
    return Verified(ids[OPENID], ids.get(UNIONID), ids.get("mobile"), identity.display_name)


class WebsiteHarness(PlatformHarness):
    """A website of an open-platform account, so that the first answer has all ids."""

    method = WeChatLogin
    plugin = "login_wechat"

    def __init__(self, wechat: WeChat) -> None:
        self._wechat = wechat

    def options(self, through: Through) -> Mapping[str, Any]:
        apps = {name: app_options(APPS[name], "http://127.0.0.1") for name in ("site", "mini")}
        return {"open_url": self._wechat.url, "api_url": through(self._wechat.url), "apps": apps}

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(app.secret for app in APPS.values())

    def new_proof(self, login: WeChatLogin) -> dict[str, str]:
        return {"app": "site", "code": self._wechat.code("site", PERSON)}

    def begin_login(self, server: LiveServer) -> Callable[[], Reply]:
        client = RestClient(server, WeChatLogin)
        reply = client.post("/api/v1/wechat-qr-codes", {"app": "site"})
        assert reply.status == 201, reply.text
        answer = {"state": reply.json()["state"], "code": self._wechat.code("site", PERSON)}
        return lambda: client.finish(answer)


class MiniProgramHarness(WebsiteHarness):
    """A mini program that gets the phone number, for which it needs the token of the app."""

    def new_proof(self, login: WeChatLogin) -> dict[str, str]:
        return {"app": "mini", **self._codes()}

    def begin_login(self, server: LiveServer) -> Callable[[], Reply]:
        client, body = RestClient(server, WeChatLogin), self._codes()
        return lambda: client.post("/api/v1/miniProgram-authorization", body)

    def _codes(self) -> dict[str, str]:
        # The platform limits the logins of a person in a minute.
        self._wechat.platform.clock.advance(1)
        code = self._wechat.code("mini", PERSON)
        return {"code": code, "phoneCode": self._wechat.phone_code("mini", PERSON)}


class WeChatContacts(PlatformContacts):
    """People who let a mini program get the phone number, which a website cannot."""

    method = WeChatLogin
    plugin = "login_wechat"
    never = NEVER["wechat"]

    def __init__(self, wechat: WeChat) -> None:
        self._wechat = wechat
        self._on_website: set[str] = set()

    def options(self) -> Mapping[str, Any]:
        site, mini = (app_options(APPS[name], "http://127.0.0.1") for name in ("site", "mini"))
        apps = {"site": site, MAIN: {**mini, "trust_mobile": False}, TRUSTING: mini}
        return {"open_url": self._wechat.url, "api_url": self._wechat.url, "apps": apps}

    def join(self, person: str, state: str, number: int) -> Credential:
        contact = make_mobile(number)
        mobile = contact.value.removeprefix("+86")
        self._wechat.platform.add_person(Person(person, person, mobile))
        if state == UNPROVEN:
            self._on_website.add(person)
        return contact

    def new_proof(self, login: WeChatLogin, provider: str, person: str) -> dict[str, str]:
        if person in self._on_website:
            return {"app": "site", "code": self._wechat.code("site", person)}
        codes = {"code": self._wechat.code("mini", person)}
        return {"app": provider, **codes, "phoneCode": self._wechat.phone_code("mini", person)}
