"""A plugin written for plugin API 1.0 runs unchanged; its former names emit warnings."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.client import PASSWORD, Client
from tests.support.distributions import install
from tests.support.server import STRONGROOM, serving, write_config

pytestmark = pytest.mark.extended

PLUGIN = '''
"""Logs in by an e-mail address and a password that are joined by a slash."""

from typing import Any

from marshmallow import Schema, fields

from strongroom.plugin_api import NoOptions, hookimpl
from strongroom.plugin_api.answers import LEAST_BYTES, TimedResponse
from strongroom.plugin_api.login import LoginAttempt, LoginMethod, VerifiedCredential
from strongroom.plugin_api.web import Access, Blueprint, Server

API_VERSION = "1.0"

assert LEAST_BYTES and TimedResponse


class PairSchema(Schema):
    pair = fields.String(required=True)


class PairLogin(LoginMethod[NoOptions]):
    name = "pairs"
    code_recipients = frozenset()

    def authenticate(self, attempt: LoginAttempt) -> VerifiedCredential | None:
        email, _, password = attempt.proof.get("pair", "").partition("/")
        credential = self.proofs.check_password(email, password)
        return VerifiedCredential(credential) if credential else None


@hookimpl
def register_login_methods() -> list[type[LoginMethod[Any]]]:
    return [PairLogin]


@hookimpl
def register_blueprints(server: Server) -> list[Blueprint]:
    assert isinstance(server, Server)
    routes = server.blueprint("pairs", description="Log in by a pair.")

    @routes.operation("POST", "/api/v1/pair-authorizations", access=Access.PUBLIC, body=PairSchema,
                      returns=server.tokens_schema, errors=server.login_errors)
    def log_in_by_pair(body: dict[str, str]) -> Any:
        """Log in by a pair."""
        return server.log_in("pairs", body)

    return [routes]
'''


@pytest.fixture
def server_config(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    site = tmp_path / "site"
    site.mkdir()
    install(site, "pairs", PLUGIN)
    monkeypatch.setenv("PYTHONPATH", str(site))
    config = write_config(tmp_path, database_url)
    text = config.read_text().replace('["storage_local"]', '["storage_local", "pairs"]')
    config.write_text(text.replace('methods = ["password"]', 'methods = ["password", "pairs"]'))
    return config


def test_its_route_logs_in(server_config: Path) -> None:
    with serving(server_config) as server:
        server.create_user("a@example.com", PASSWORD)
        body = {"pair": f"a@example.com/{PASSWORD}"}
        answer = Client(server.url).expect(200, "POST", "/api/v1/pair-authorizations", body)
        assert answer.json()["accessToken"]


def test_each_former_name_emits_a_warning(server_config: Path) -> None:
    result = subprocess.run(
        [STRONGROOM, "config", "check", "--offline", "--config", server_config],
        env={**os.environ, "PYTHONWARNINGS": "always::DeprecationWarning"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    for notice in (
        "strongroom.plugin_api.answers is deprecated: import strongroom.plugin_api.http_timeouts",
        "strongroom.plugin_api.web.Server is deprecated: use HostAPI",
        "the argument server is deprecated: use host",
    ):
        assert f"DeprecationWarning: {notice}\n" in result.stderr
