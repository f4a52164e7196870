"""Alipay for tests: the addresses of the server, and people on the pages of the platform."""

from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import requests

from strongroom_simulators.alipay import KeyPair, Simulator
from tests.support.config import Table, lifted

ROOT: Final = "https://127.0.0.1"
CALLBACK: Final = "/api/v1/alipay-authorizations/callback/main"
REDIRECT: Final = f"{ROOT}{CALLBACK}"


def alipay_app(simulator: Simulator, app_keys: KeyPair) -> dict[str, Any]:
    """Return the options of the sample app."""
    return {
        "app_id": next(iter(simulator.platform.apps)),
        "private_key": app_keys.private_text(is_pem=False),
        "alipay_public_key": simulator.platform.keys.public_text(is_pem=False),
        "page_url": simulator.url,
        "gateway_url": simulator.url,
    }


def alipay_config(simulator: Simulator, app_keys: KeyPair) -> Table:
    """Return the changes to a configuration: login by Alipay."""
    apps = {"main": alipay_app(simulator, app_keys)}
    login = {"methods": ["password", "alipay"], "alipay": {"read_timeout": 2, "apps": apps}}
    plugins = {"enabled": ["storage_local", "login_alipay", "login_pages"]}
    rates = lifted("login_per_address", "captchas_per_address", "code_per_recipient")
    return {"plugins": plugins, "login": login, **rates}


def decide(url: str, person: str, decision: str = "confirm") -> dict[str, str]:
    """Play a person on the platform's page; return the query of the redirect."""
    form = {"person": person, "decision": decision}
    response: Any = requests.post(url, data=form, allow_redirects=False, timeout=30)
    assert response.status_code == 302, response.text
    query = parse_qs(urlsplit(response.headers["Location"]).query)
    return {name: value for name, (value,) in query.items()}
