"""The conformance suite of the protocol, against its own tools and against the tools over files."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.support.agents import PLUGINS, Office, make_key
from tests.support.api import Api
from tests.support.config import Table
from tests.support.conformance_tools import make_application, serve, with_token
from tests.support.databases import on_sqlite
from tests.support.npm import NPM, install_packages

from strongroom.testing.server import free_port

SUITE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE: Final = "node@22"  # the suite needs globSync
STATELESS, HANDSHAKE = "2026-07-28", "2025-11-25"

COMMON: Final = (
    "tools-list",
    "tools-call-simple-text",
    "tools-call-image",
    "tools-call-audio",
    "tools-call-embedded-resource",
    "tools-call-mixed-content",
    "tools-call-error",
    "resources-list",
    "resources-read-text",
    "resources-read-binary",
    "resources-templates-read",
    "prompts-list",
    "prompts-get-simple",
    "prompts-get-with-args",
    "prompts-get-embedded-resource",
    "prompts-get-with-image",
    "dns-rebinding-protection",
)
OF_STATELESS: Final = (
    *COMMON,
    "server-sse-multiple-streams",
    "server-stateless",
    "http-header-validation",
    "caching",
    "sep-2164-resource-not-found",
    "input-required-result-unsupported-methods",
)
OF_HANDSHAKE: Final = (*COMMON, "server-initialize", "ping")

OVER_FILES: Final = (
    (STATELESS, "server-stateless"),
    (STATELESS, "http-header-validation"),
    (STATELESS, "sep-2164-resource-not-found"),
    (STATELESS, "dns-rebinding-protection"),
    (STATELESS, "tools-list"),
    (STATELESS, "resources-list"),
    (HANDSHAKE, "server-initialize"),
    (HANDSHAKE, "ping"),
    (HANDSHAKE, "tools-list"),
    (HANDSHAKE, "resources-list"),
    (HANDSHAKE, "dns-rebinding-protection"),
)
"""The scenarios that need no tools of the suite."""

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(NPM is None, reason="there is no npm"),
]


@pytest.fixture(scope="session")
def suite(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """The command of the suite."""
    folder = tmp_path_factory.mktemp("conformance")
    install_packages(folder, NODE, SUITE)
    modules = folder / "node_modules"
    program = modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    return str(modules / "node" / "bin" / "node"), str(program)


def run(suite: tuple[str, str], folder: Path, url: str, revision: str, scenario: str) -> None:
    """Run a scenario, whose checks must pass as far as the server has the tools for them."""
    options = ["--url", url, "--scenario", scenario, "--spec-version", revision, "-o", str(folder)]
    result = subprocess.run([*suite, "server", *options], capture_output=True, text=True, check=False)
    (report,) = folder.glob("*/checks.json")
    checks = json.loads(report.read_text())
    failed = [
        (check["id"], check["errorMessage"])
        for check in checks
        if check["status"] == "FAILURE" and not check["errorMessage"].startswith("Not testable")
    ]
    assert failed == [], result.stdout[-4000:]
    assert "SUCCESS" in {check["status"] for check in checks}, result.stdout


class TestTools:
    """The tools, resources and prompts of the suite."""

    @pytest.fixture(scope="class")
    @classmethod
    def url(cls) -> Iterator[str]:
        port = free_port()
        with serve(make_application(f"http://127.0.0.1:{port}"), port):
            yield f"http://127.0.0.1:{port}/mcp"

    @pytest.mark.parametrize(
        ("revision", "scenario"),
        [
            *((STATELESS, name) for name in OF_STATELESS),
            *((HANDSHAKE, name) for name in OF_HANDSHAKE),
        ],
    )
    def test_a_scenario_passes(
        self, suite: tuple[str, str], tmp_path: Path, url: str, revision: str, scenario: str
    ) -> None:
        run(suite, tmp_path, url, revision, scenario)


@on_sqlite
class TestFiles:
    """The tools over files, for an agent with a key for one folder."""

    @pytest.fixture
    def port(self) -> int:
        return free_port()

    @pytest.fixture
    def config_changes(self, port: int) -> Table:
        return {
            "plugins": {"enabled": PLUGINS, "mcp": {"max_calls_per_minute": 100_000}},
            "server": {"public_url": f"http://127.0.0.1:{port}"},
        }

    @pytest.fixture
    def url(self, api: Api, port: int) -> Iterator[str]:
        office = Office.made(api)
        office.file("may.txt", b"May")
        key = make_key(api, office.user, tenantId=office.tenant_id, fileId=office.folder)
        with serve(with_token(api.app, str(key.token)), port):
            yield f"http://127.0.0.1:{port}/mcp"

    @pytest.mark.parametrize(("revision", "scenario"), OVER_FILES)
    def test_a_scenario_passes(
        self, suite: tuple[str, str], tmp_path: Path, url: str, revision: str, scenario: str
    ) -> None:
        run(suite, tmp_path, url, revision, scenario)
