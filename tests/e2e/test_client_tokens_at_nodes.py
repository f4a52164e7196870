"""The tokens of a client end at all nodes when one node ends what they come from."""

import html
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from strongroom.testing.browser import Browser
from strongroom.testing.server import LiveServer, LiveUser, Reply
from tests.e2e.cluster import Postgresql, Redis
from tests.support.agents import PLUGINS_WITH_LOGIN, modern_headers, modern_message
from tests.support.config import lifted
from tests.support.relying_party import CALLBACK, CHALLENGE, VERIFIER
from tests.support.server import Server, serving_nodes

SITE: Final = "https://files.example.com"
RESOURCES: Final = {"client": None, "REST": SITE, "MCP": f"{SITE}/mcp"}
SCOPES: Final = "openid files:read tenants:read offline_access"
SECONDS: Final = 1

pytestmark = pytest.mark.extended


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveServer, LiveServer]]:
    """Two nodes with the same PostgreSQL, Redis, keys and files."""
    postgresql = Postgresql(tmp_path_factory.mktemp("postgresql"))
    redis = Redis(tmp_path_factory.mktemp("redis"))
    redis.start()
    shared = {"redis": {"url": f"redis://127.0.0.1:{redis.port}"}}
    plugins = {"plugins": {"enabled": PLUGINS_WITH_LOGIN}}
    folder = tmp_path_factory.mktemp("servers")
    try:
        with serving_nodes(folder, postgresql.create(), shared, plugins, lifted()) as (one, other):
            yield as_live(one), as_live(other)
    finally:
        redis.kill()
        postgresql.close()


def as_live(server: Server) -> LiveServer:
    return LiveServer(server.url, server.config.parent, server.config, server.log)


@dataclass
class Scene:
    """A user who has consented to a client, which has tokens for each service."""

    nodes: tuple[LiveServer, LiveServer]
    user: LiveUser
    root: LiveUser
    client: Mapping[str, Any]
    browser: Browser
    tokens: dict[str, dict[str, Any]]

    @classmethod
    def made(cls, nodes: tuple[LiveServer, LiveServer]) -> "Scene":
        user, root = nodes[0].user(), nodes[0].user(admin=True)
        body = {
            "name": "Wiki",
            "redirectUris": [CALLBACK],
            "scopes": SCOPES.split(),
            "resources": [f"{SITE}/mcp"],
        }
        client = nodes[0].succeed("POST", "/api/v1/clients", by=root, json_body=body)
        browser = Browser(nodes[0])
        browser.log_in(user)
        scene = cls(nodes, user, root, client, browser, {})
        scene.tokens = {name: scene.obtain(resource) for name, resource in RESOURCES.items()}
        return scene

    def obtain(self, resource: str | None) -> dict[str, Any]:
        """Return new tokens for a service, to which the user consents on a page of the first node."""
        asked = {"resource": resource} if resource else {}
        parameters = {
            "response_type": "code",
            "client_id": self.client["id"],
            "redirect_uri": CALLBACK,
            "scope": SCOPES,
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            **asked,
        }
        self.browser.open(f"/oauth2/authorize?{urlencode(parameters)}")
        # A request without a resource and one for the REST API share a consent.
        location = self.browser.page.headers.get("location") or self.allow()
        code = parse_qs(urlsplit(location).query)["code"][0]
        proof = {"code": code, "redirect_uri": CALLBACK, "code_verifier": VERIFIER, **asked}
        answer = self.send(self.nodes[0], "token", grant_type="authorization_code", **proof)
        assert answer.status == 200, answer.text
        return dict(answer.json())

    def allow(self) -> str:
        """Allow what the page of the consent asks, and return where it leads to."""
        page = self.browser.submit("/oauth2/decision", decision="allow")
        match = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page.text)
        assert match is not None, page.text
        return html.unescape(match[1])

    def send(self, node: LiveServer, name: str, **form: str) -> Reply:
        """Send a form with the authentication of the client."""
        known = {"client_id": self.client["id"], "client_secret": self.client["secret"]}
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        body = urlencode({**known, **form}).encode()
        return node.request("POST", f"/oauth2/{name}", headers=headers, body=body)

    def uses(self, node: LiveServer) -> dict[str, bool]:
        """Return whether a node accepts each token, but for refresh tokens, which are spent by use."""
        results = {
            "REST": read(node, "/api/v1/tenants", self.tokens["REST"]).status,
            "userinfo": read(node, "/oauth2/userinfo", self.tokens["client"]).status,
            "MCP": list_tools(node, self.tokens["MCP"]).status,
        }
        assert set(results.values()) <= {200, 401}, results
        reported = {
            f"introspection of {kind} for {name}": self.is_active(node, tokens[kind])
            for name, tokens in self.tokens.items()
            for kind in ("access_token", "refresh_token")
        }
        return {name: status == 200 for name, status in results.items()} | reported

    def is_active(self, node: LiveServer, token: str) -> bool:
        answer = self.send(node, "introspect", token=token)
        assert answer.status == 200, answer.text
        return bool(answer.json()["active"])

    def refusals(self, node: LiveServer) -> set[tuple[int, str]]:
        """Return the answers of a node to the refresh tokens."""
        answers = [
            self.send(node, "token", grant_type="refresh_token", refresh_token=tokens["refresh_token"])
            for tokens in self.tokens.values()
        ]
        return {(answer.status, answer.json().get("error", "")) for answer in answers}


def read(node: LiveServer, path: str, tokens: Mapping[str, str]) -> Reply:
    return node.request("GET", path, headers={"Authorization": f"Bearer {tokens['access_token']}"})


def list_tools(node: LiveServer, tokens: Mapping[str, str]) -> Reply:
    message = modern_message("tools/list", {})
    headers = {
        **modern_headers("tools/list", {}),
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {tokens['access_token']}",
    }
    return node.request("POST", "/mcp", headers=headers, body=json.dumps(message).encode())


def withdraw_by_rest(scene: Scene) -> None:
    (consent, *_) = scene.nodes[0].succeed("GET", "/api/v1/users/me/consents", by=scene.user)["data"]
    scene.nodes[0].succeed("DELETE", f"/api/v1/users/me/consents/{consent['id']}", by=scene.user)


def withdraw_by_page(scene: Scene) -> None:
    path = f"/oauth2/consents/{scene.client['id']}/removal"
    scene.browser.open(path)
    scene.browser.submit(path)


def suspend(scene: Scene) -> None:
    scene.nodes[0].succeed("POST", f"/users/{scene.user.id}/suspension", by=scene.root)


@pytest.mark.parametrize("end", [withdraw_by_rest, withdraw_by_page, suspend])
def test_both_nodes_refuse_all_tokens_within_a_second(
    nodes: tuple[LiveServer, LiveServer], end: Callable[[Scene], None]
) -> None:
    scene = Scene.made(nodes)
    for node in nodes:
        uses = scene.uses(node)
        assert all(uses.values()), uses
    end(scene)
    time.sleep(SECONDS)
    for node in nodes[::-1]:
        uses = scene.uses(node)
        assert not any(uses.values()), uses
        assert scene.refusals(node) == {(400, "invalid_grant")}
