"""The conformance suite of the protocol against the authorization server."""

import html
import re
import subprocess
import urllib.request
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from tests.support.npm import NPM, install_packages

from strongroom.testing.browser import Browser
from strongroom.testing.server import free_port, live_server

SUITE: Final = "@modelcontextprotocol/conformance@0.2.0-alpha.12"
NODE: Final = "node@22"  # the suite needs globSync
PLUGINS: Final = ["mcp", "login_pages", "oidc_provider"]
SCENARIOS: Final = 2

pytestmark = [
    pytest.mark.extended,
    pytest.mark.skipif(NPM is None, reason="there is no npm"),
]


def consent(browser: Browser, url: str) -> None:
    """Allow what a client requests, and return to it."""
    parts = urlsplit(url)
    browser.open(f"{parts.path}?{parts.query}")
    page = browser.submit("/oauth2/decision", decision="allow")
    match = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page.text)
    assert match is not None, page.text
    with urllib.request.urlopen(html.unescape(match[1])) as response:
        assert response.status == 200


def test_the_scenarios_for_authorization_servers_pass(tmp_path: Path) -> None:
    install_packages(tmp_path, NODE, SUITE)
    modules = tmp_path / "node_modules"
    program = modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
    with live_server(tmp_path / "server", plugins=PLUGINS) as server:
        user, root, port = server.user(), server.user(admin=True), free_port()
        resource = f"{server.url}/mcp"
        body = {
            "name": "Assistant",
            "public": True,
            "redirectUris": [f"http://127.0.0.1:{port}/callback"],
            "scopes": ["files:read"],
            "resources": [resource],
        }
        client = server.succeed("POST", "/api/v1/clients", by=root, json_body=body)
        browser = Browser(server)
        browser.log_in(user)
        options = ["--url", server.url, "--client-id", client["id"], "--resource", resource]
        command = [modules / "node" / "bin" / "node", program, "authorization", *options]
        output = []
        with subprocess.Popen(
            [*command, "--port", str(port)], stdout=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            for line in process.stdout:
                output.append(line)
                if line.startswith(f"{server.url}/oauth2/authorize?"):
                    consent(browser, line.strip())
    assert process.returncode == 0, "".join(output)
    assert "".join(output).count("=== Running scenario") == SCENARIOS, output
