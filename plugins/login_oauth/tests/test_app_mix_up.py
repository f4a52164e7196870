"""Two apps of one platform whose servers differ: the code of one is never sent to the other's.

The servers are those of Feishu and Lark, and of two operators of Alipay gateways. All apps of DingTalk,
and all of WeCom, are at one server: it gets the code of each app by the redirect URI of that app only.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import pytest
import requests
from tests.support.alipay import alipay_app
from tests.support.api import Api, error_code
from tests.support.config import lifted, write_api_config
from tests.support.databases import SqliteDatabases
from tests.support.wechat import Browser

from strongroom.testing.clock import ManualClock
from strongroom_simulators import alipay, dingtalk, feishu, wecom
from strongroom_simulators.dingtalk.samples import COMPANY

ROOT: Final = "https://127.0.0.1"
NAMES: Final = ("first", "second")
PLATFORMS: Final = ("alipay", "dingtalk", "feishu", "wecom")


@dataclass
class Apps:
    """The sections of two apps of each platform, and the requests that their servers received."""

    stack: ExitStack
    requests: dict[tuple[str, str], Counter[str]] = field(default_factory=dict)

    def serve(self, method: str, name: str, simulator: Any) -> str:
        served = self.stack.enter_context(simulator)
        self.requests[method, name] = served.platform.requests
        return str(served.url)

    def feishu(self, name: str) -> dict[str, Any]:
        app = feishu.sample_app(f"{ROOT}/api/v1/feishu-authorizations/callback/{name}")
        platform = feishu.sample_platform(app)
        url = self.serve("feishu", name, feishu.Simulator(platform))
        keys = {"app_id": app.app_id, "app_secret": app.app_secret, "allowed_tenants": [feishu.TENANT]}
        return {**keys, "accounts_url": url, "open_url": url}

    def alipay(self, name: str) -> dict[str, Any]:
        keys = alipay.KeyPair()
        uri = f"{ROOT}/api/v1/alipay-authorizations/callback/{name}"
        platform = alipay.sample_platform(alipay.sample_app(keys.public, uri), keys=alipay.KeyPair())
        simulator = alipay.Simulator(platform)
        self.serve("alipay", name, simulator)
        return alipay_app(simulator, keys)

    def dingtalk(self) -> dict[str, Any]:
        apps = {
            name: dingtalk.PlatformApp(f"ding{name}", f"secret of {name}", COMPANY, hosts=("127.0.0.1",))
            for name in NAMES
        }
        platform = dingtalk.sample_platform(*apps.values(), calls_a_second=10_000)
        url = self.serve("dingtalk", "first", dingtalk.Simulator(platform))
        self.requests["dingtalk", "second"] = platform.requests
        sections = {
            name: {"client_id": app.client_id, "client_secret": app.client_secret}
            for name, app in apps.items()
        }
        return {**dict.fromkeys(("login_url", "api_url", "oapi_url"), url), "apps": sections}

    def wecom(self) -> dict[str, Any]:
        apps = {
            name: wecom.sample_app("127.0.0.1", agentid=1_000_002 + number, secret=f"secret-{name}")
            for number, name in enumerate(NAMES)
        }
        platform = wecom.sample_platform(*apps.values())
        url = self.serve("wecom", "first", wecom.Simulator(platform))
        self.requests["wecom", "second"] = platform.requests
        sections = {
            name: {"corpid": app.corpid, "agentid": app.agentid, "secret": app.secret}
            for name, app in apps.items()
        }
        return {**dict.fromkeys(("login_url", "open_url", "api_url"), url), "apps": sections}


@dataclass
class Scene:
    api: Api
    apps: Apps

    def begin(self, browser: Browser, method: str, name: str) -> str:
        answer = browser.post(f"/api/v1/{method}-authorization-requests", {"app": name})
        assert answer.status_code == 201, answer.text
        return str(answer.json["url"])

    def come_back(self, browser: Browser, method: str, uri: str) -> Any:
        parts = urlsplit(uri)
        handed = self.api.get(parts.path, query_string=dict(parse_qsl(parts.query)))
        if handed.status_code != 200:
            return handed
        return browser.post(f"/api/v1/{method}-authorizations", handed.json)


@pytest.fixture(scope="module")
def scene(
    tmp_path_factory: pytest.TempPathFactory, sqlite_databases: SqliteDatabases
) -> Iterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("apps")
    with sqlite_databases.create() as url, ExitStack() as stack:
        apps = Apps(stack)
        login = {
            "methods": ["password", *PLATFORMS],
            "feishu": {"apps": {name: apps.feishu(name) for name in NAMES}},
            "alipay": {"apps": {name: apps.alipay(name) for name in NAMES}},
            "dingtalk": apps.dingtalk(),
            "wecom": apps.wecom(),
        }
        changes = {
            "server": {"public_url": ROOT},
            "plugins": {"enabled": ["storage_local", *(f"login_{name}" for name in PLATFORMS)]},
            "login": login,
            **lifted(),
        }
        with Api.running(write_api_config(folder, url, changes), ManualClock()) as api:
            yield Scene(api, apps)


def agree(url: str, person: str = "lin") -> str:
    """Agree at the page of a platform; return the URL of the redirect."""
    form = {"person": person, "decision": "confirm"}
    answer = requests.post(url, data=form, allow_redirects=False, timeout=30)
    assert answer.status_code == 302, answer.text
    return str(answer.headers["Location"])


def with_state(url: str, other: str) -> str:
    parts = urlsplit(url)
    state = dict(parse_qsl(urlsplit(other).query))["state"]
    query = {**dict(parse_qsl(parts.query)), "state": state}
    return urlunsplit(parts._replace(query=urlencode(query)))


@pytest.mark.parametrize("order", ["attacker first", "victim first"])
@pytest.mark.parametrize("roles", [NAMES, NAMES[::-1]], ids=["first honest", "second honest"])
@pytest.mark.parametrize("method", PLATFORMS)
def test_the_operator_of_one_app_logs_in_as_no_user_of_another(
    scene: Scene, method: str, roles: tuple[str, str], order: str
) -> None:
    honest, hostile = roles
    attacker, victim = Browser(scene.api), Browser(scene.api)
    if order == "attacker first":
        own, pressed = scene.begin(attacker, method, honest), scene.begin(victim, method, hostile)
    else:
        pressed, own = scene.begin(victim, method, hostile), scene.begin(attacker, method, honest)
    redirect = agree(with_state(own, pressed))
    received = scene.apps.requests[method, hostile].copy()
    refused = scene.come_back(victim, method, redirect)
    assert error_code(refused) == f"error.{method}-answer-invalid", refused.text
    assert scene.apps.requests[method, hostile] == received


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", PLATFORMS)
def test_the_same_answer_logs_its_own_browser_in(scene: Scene, method: str, name: str) -> None:
    browser = Browser(scene.api)
    redirect = agree(scene.begin(browser, method, name))
    login = scene.come_back(browser, method, redirect)
    assert login.status_code == 200, login.text
