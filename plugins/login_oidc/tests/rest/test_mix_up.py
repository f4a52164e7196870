"""Mix-up (RFC 9700, section 4.4): who operates one provider logs in as no user of another.

The attacker begins a login with the honest provider. The victim presses the button of the attacker's
provider, whose page leads to the honest provider with the victim's state, and with the nonce and the
challenge of the attacker's login. The honest provider's code must not reach the attacker.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import pytest
from tests.support.api import Api, error_code
from tests.support.config import lifted, write_api_config
from tests.support.databases import SqliteDatabases
from tests.support.wechat import Browser

from strongroom.testing.clock import ManualClock
from strongroom_login_oidc.presets import PRESETS
from strongroom_simulators.oidc_providers import agree

from ..hostile import HostileProvider, serving
from ..preset_logins import SiteOf, preset_sites
from .browsers import AUTHORIZATIONS, REQUESTS, configured

ROOT: Final = "https://files.example.com"
CALLBACK: Final = "/api/v1/oidc-authorizations/callback"
PLAIN: Final = "company"


@dataclass
class Side:
    """One of the two providers.

    Args:
        name: its name in the configuration.
        confirm: lets the victim agree at the page of a URL; returns the parameters of the redirect.
        received: the codes that its token endpoint has received.
    """

    name: str
    confirm: Callable[[str], dict[str, str]]
    received: list[str]


@dataclass
class Scene:
    """A server with all presets and a provider without a preset, of which any may be hostile."""

    api: Api
    plain: HostileProvider
    site_of: SiteOf
    codes: dict[str, list[str]]

    def side(self, name: str) -> Side:
        if name == PLAIN:
            return Side(PLAIN, self._confirm, self.codes.setdefault(PLAIN, []))
        return Side(name, lambda url: agree(url, "lin"), self.codes[name])

    def _confirm(self, url: str) -> dict[str, str]:
        query = dict(parse_qsl(urlsplit(url).query))
        answer = self.plain.confirm(
            query["nonce"],
            query["code_challenge"],
            query["redirect_uri"],
            is_challenge=True,
            claims={"sub": "lin", "name": "林 小雨"},
        )
        return {**answer, "state": query["state"]}


@pytest.fixture(scope="module")
def scene(
    tmp_path_factory: pytest.TempPathFactory, sqlite_databases: SqliteDatabases
) -> Iterator[Scene]:
    folder, clock = tmp_path_factory.mktemp("mix-up"), ManualClock()
    now, plain = clock.now() / 1000, HostileProvider(now=clock.now() / 1000)
    # Honest providers need not send the parameter "iss", which the tests add.
    plain.discovery["authorization_response_iss_parameter_supported"] = False
    codes: dict[str, list[str]] = {}
    with (
        sqlite_databases.create() as url,
        serving(plain),
        preset_sites(folder, lambda preset: (), now) as site_of,
    ):
        sections: dict[str, Any] = {PLAIN: configured(plain)}
        for preset in PRESETS:
            site = site_of(preset)
            sections[preset] = {**site.section}
            if "private_key_file" in site.section:
                sections[preset]["private_key_file"] = str(site.section["private_key_file"])
            codes[preset] = watch(site.platform)
        oidc = {"providers": sections, "allow_insecure_loopback": True, "read_timeout": 30.0}
        changes = {
            "server": {"public_url": ROOT},
            "plugins": {"enabled": ["storage_local", "login_oidc"]},
            "login": {"methods": ["password", "oidc"], "oidc": oidc},
            **lifted(),
        }
        with Api.running(write_api_config(folder, url, changes), clock) as api:
            yield Scene(api, plain, site_of, codes)


def watch(platform: Any) -> list[str]:
    """Return the codes that a simulated platform receives, which registers each URI that it sees."""
    received: list[str] = []
    exchange = platform.exchange

    def exchange_watched(form: Any, authorization: Any) -> Any:
        received.append(form.get("code", ""))
        return exchange(form, authorization)

    platform.exchange = exchange_watched
    registered: set[str] = set()

    def accepts_redirect(_client: Any, redirect_uri: str) -> bool:
        # The first one is that of the honest login: it is compared exactly from then on.
        if not registered:
            registered.add(redirect_uri)
        return redirect_uri in registered

    platform.accepts_redirect = accepts_redirect
    return received


def begin(browser: Browser, name: str) -> str:
    answer = browser.post(REQUESTS, {"provider": name})
    assert answer.status_code == 201, answer.text
    url: str = answer.json["url"]
    return url


def state_of(url: str) -> str:
    return dict(parse_qsl(urlsplit(url).query))["state"]


def with_state(url: str, state: str) -> str:
    parts = urlsplit(url)
    query = {**dict(parse_qsl(parts.query)), "state": state}
    return urlunsplit(parts._replace(query=urlencode(query)))


def come_back(api: Api, browser: Browser, uri: str, answer: dict[str, str]) -> Any:
    """Follow a redirect as the client that has begun: hand the answer over, and log in with it."""
    handed = api.get(urlsplit(uri).path, query_string=answer)
    return browser.post(AUTHORIZATIONS, handed.json) if handed.status_code == 200 else handed


@pytest.mark.parametrize("has_iss", [False, True], ids=["no iss", "iss"])
@pytest.mark.parametrize("order", ["attacker first", "victim first"])
@pytest.mark.parametrize("is_preset_honest", [True, False], ids=["preset honest", "preset hostile"])
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_the_operator_of_one_provider_logs_in_as_no_user_of_another(
    scene: Scene, preset: str, is_preset_honest: bool, order: str, has_iss: bool
) -> None:
    names = (preset, PLAIN) if is_preset_honest else (PLAIN, preset)
    honest, hostile = scene.side(names[0]), scene.side(names[1])
    attacker, victim = Browser(scene.api), Browser(scene.api)
    if order == "attacker first":
        own, pressed = begin(attacker, honest.name), begin(victim, hostile.name)
    else:
        pressed, own = begin(victim, hostile.name), begin(attacker, honest.name)
    uri = dict(parse_qsl(urlsplit(own).query))["redirect_uri"]
    answer = honest.confirm(with_state(own, state_of(pressed)))
    answer = {**answer, "iss": issuer_of(scene, honest.name)} if has_iss else without_iss(answer)
    received = len(hostile.received) + len(scene.plain.forms)
    refused = come_back(scene.api, victim, uri, answer)
    assert error_code(refused) == "error.oidc-answer-invalid", refused.text
    assert len(hostile.received) + len(scene.plain.forms) == received
    # The answer counts nowhere else, either.
    for other in (f"{CALLBACK}/{hostile.name}", CALLBACK):
        assert come_back(scene.api, victim, other, answer).status_code != 200
        finished = {**answer, "state": state_of(own)}
        assert come_back(scene.api, attacker, other, finished).status_code != 200


@pytest.mark.parametrize("name", [PLAIN, *sorted(PRESETS)])
def test_the_same_answer_logs_its_own_browser_in(scene: Scene, name: str) -> None:
    """What the other tests refuse is refused for its own reason: this login succeeds."""
    side, browser = scene.side(name), Browser(scene.api)
    url = begin(browser, name)
    uri = dict(parse_qsl(urlsplit(url).query))["redirect_uri"]
    assert uri == f"{ROOT}{CALLBACK}/{name}"
    login = come_back(scene.api, browser, uri, side.confirm(url))
    assert login.status_code == 200, login.text


def issuer_of(scene: Scene, name: str) -> str:
    if name == PLAIN:
        return scene.plain.url
    platform = scene.site_of(name).platform
    return str(platform.issuer() or platform.url)


def without_iss(answer: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in answer.items() if key != "iss"}
