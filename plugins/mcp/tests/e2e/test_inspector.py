"""The MCP Inspector lists and calls the tools of a real server, in both eras of the protocol."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.support.npm import NPM, install_packages

from strongroom.testing.server import LiveServer, live_server

INSPECTOR: Final = "@modelcontextprotocol/inspector@2.12.0"
NODE: Final = "node@22"  # the version that the inspector requires
PATIENCE: Final = 60
UNAUTHORIZED: Final = "auth_required"

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(NPM is None, reason="there is no npm"),
]


@pytest.fixture(scope="module")
def inspector(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the inspector without its browser."""
    folder = tmp_path_factory.mktemp("inspector")
    install_packages(folder, NODE, INSPECTOR)
    modules = folder / "node_modules"
    program = modules / "@modelcontextprotocol/inspector/clients/launcher/build/index.js"
    return [str(modules / "node" / "bin" / "node"), str(program), "--cli"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    with live_server(tmp_path_factory.mktemp("server"), plugins=["mcp"]) as server:
        yield server


@pytest.fixture(scope="module")
def token(server: LiveServer) -> str:
    """The key of an agent for a folder with a file."""
    user = server.user()
    tenant = server.tenant(user)
    folder = server.folder_in(tenant, user, "Reports")["id"]
    server.upload(tenant, user, "sales.txt", b"Sales in May\nSales in June\n", folder)
    body = {"name": "agent", "scopes": ["files:read"], "tenantId": tenant, "fileId": folder}
    key = server.succeed("POST", "/users/me/access-keys", by=user, json_body=body)["key"]
    return str(key)


def run(
    inspector: list[str], server: LiveServer, home: Path, *options: str
) -> subprocess.CompletedProcess[str]:
    """Run the inspector without the state of the user who runs the tests."""
    return subprocess.run(
        [*inspector, f"{server.url}/mcp", "--transport", "http", "--format", "json", *options],
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
        env={**os.environ, "HOME": str(home)},
    )


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspector_lists_and_calls_the_tools(
    inspector: list[str], server: LiveServer, token: str, tmp_path: Path, era: str
) -> None:
    def call(*options: str) -> Any:
        header = ("--header", f"Authorization: Bearer {token}", "--protocol-era", era)
        result = run(inspector, server, tmp_path, *header, *options)
        assert result.returncode == 0, result.stderr
        return json.loads(result.stdout)

    # The inspector ends with another code if clients would reject the schema of a tool.
    listed = call("--method", "tools/list", "--strict")
    assert "files_grep" in {tool["name"] for tool in listed["result"]["tools"]}
    arguments = ("--tool-name", "files_grep", "--tool-arg", "text=JUNE")
    found = call("--method", "tools/call", *arguments)["result"]
    (match,) = found["structuredContent"]["matches"]
    assert match["line"] == 2


def test_the_inspector_reports_a_missing_token(
    inspector: list[str], server: LiveServer, tmp_path: Path
) -> None:
    result = run(inspector, server, tmp_path, "--method", "tools/list", "--stored-auth-only")
    assert result.returncode != 0
    assert UNAUTHORIZED in result.stderr
