"""The front end's log has no secret of a path, whichever route of the server or of the pages has it."""

import re
from collections.abc import Iterator
from string import Template
from typing import Any

import pytest
from tests.support.api import Api
from tests.support.databases import on_sqlite
from tests.support.source_tree import ROOT

from strongroom_login_pages.application import LoginPagesApplication

pytestmark = [
    on_sqlite,
    pytest.mark.config(
        {
            "plugins": {
                "enabled": ["storage_local", "login_sms", "login_email", "login_pages", "share_links"]
            },
            "login": {"methods": ["password", "sms", "email_code"]},
        }
    ),
]

SECRET = {"credential", "link", "reference", "secret", "token"}
"""Path parameters with a secret or personal data."""
CONFIGURATION = (ROOT / "examples/production/nginx.conf").read_text(encoding="utf-8")
CANARY = "canary-0123456789abcdef"


def logged(path: str) -> str:
    """Return what the map of the example logs of a path."""
    table = re.search(r"map \$uri \$logged_path \{(.*?)\n    \}", CONFIGURATION, re.DOTALL)
    assert table
    rows = re.findall(r"~(\S+) (\S+);", table[1])
    assert len(rows) >= 3
    for pattern, value in rows:
        if match := re.search(pattern.replace("(?<", "(?P<"), path):
            return Template(value).substitute(match.groupdict(default=""))
    return path


def paths(api: Api) -> Iterator[tuple[str, str]]:
    """Yield each path parameter with a secret, and a path with the canary in its place."""
    app: Any = api.app
    mounted = next(mount for mount in app.mounts if mount.prefix == "/account")
    assert isinstance(mounted.application, LoginPagesApplication)
    maps = (("", api.app.url_map), ("/account", mounted.application.pages.url_map))
    for prefix, rules in maps:
        for rule in rules.iter_rules():
            for name in SECRET & rule.arguments:
                text = re.sub(rf"<(?:\w+:)?{name}>", CANARY, rule.rule)
                yield name, prefix + re.sub(r"<[^>]*>", "x", text)


@pytest.mark.parametrize("base_path", ["", "/vault"])
def test_no_secret_of_a_path_is_logged(api: Api, base_path: str) -> None:
    seen = set()
    for name, path in paths(api):
        assert CANARY in path
        assert CANARY not in logged(base_path + path), path
        seen.add(name)
    assert seen == SECRET


def test_the_rest_of_a_path_is_logged(api: Api) -> None:
    assert api.get("/account/login").status_code == 200
    assert logged("/api/v1/tenants/1/files/2/download") == "/api/v1/tenants/1/files/2/download"
    assert logged("/s/secret/Photos/a.jpg") == "/s/.../Photos/a.jpg"
    assert logged("/account/login") == "/account/login"
