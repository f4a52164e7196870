"""Feishu for tests: the addresses of the server, and people on the pages of the platform."""

from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

import requests

from strongroom.plugin_api.state import ValueStore
from strongroom.testing.clock import ManualClock
from strongroom_simulators.feishu import TENANT, Simulator
from tests.support.config import Table, lifted

ROOT: Final = "https://127.0.0.1"
CALLBACK: Final = "/api/v1/feishu-authorizations/callback/main"
REDIRECT: Final = f"{ROOT}{CALLBACK}"


@dataclass(frozen=True)
class Values:
    """What a provider needs of the server."""

    values: ValueStore
    clock: ManualClock


def feishu_config(simulator: Simulator, **options: Any) -> Table:
    """Return the changes to a configuration: login by Feishu for the members of one company."""
    app = next(iter(simulator.platform.apps.values()))
    main = {
        "app_id": app.app_id,
        "app_secret": app.app_secret,
        "allowed_tenants": [TENANT],
        "region": simulator.platform.region,
        "accounts_url": simulator.url,
        "open_url": simulator.url,
        **options,
    }
    login = {"methods": ["password", "feishu"], "feishu": {"read_timeout": 2, "apps": {"main": main}}}
    plugins = {"enabled": ["storage_local", "login_feishu", "login_pages"]}
    rates = lifted("login_per_address", "captchas_per_address", "code_per_recipient")
    return {"plugins": plugins, "login": login, **rates}


def decide(url: str, person: str, decision: str = "confirm") -> dict[str, str]:
    """Play a person on the platform's page; return the query of the redirect."""
    form = {"person": person, "decision": decision}
    response: Any = requests.post(url, data=form, allow_redirects=False, timeout=30)
    assert response.status_code == 302, response.text
    query = parse_qs(urlsplit(response.headers["Location"]).query)
    return {name: value for name, (value,) in query.items()}
