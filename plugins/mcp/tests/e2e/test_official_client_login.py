"""The official client in Python logs its user in, gets one folder, and requests a further scope."""

import asyncio
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl

from strongroom.testing.browser import Browser
from strongroom.testing.server import LiveServer, live_server

REDIRECT_URI = "http://127.0.0.1:33418/callback"
SCOPES = ["files:read", "files:write", "offline_access"]
MODES = {"2026-07-28": "2026-07-28", "legacy": "2025-11-25"}
"""The revision of a connection by the way in which the client begins it."""


@dataclass
class Store:
    """The tokens and the registration of a client, in memory."""

    client: OAuthClientInformationFull
    tokens: OAuthToken | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


@dataclass
class Person:
    """A user at a browser, who allows what a client requests, for one folder."""

    browser: Browser
    choice: str
    scopes: list[str] = field(default_factory=list)
    returned: dict[str, list[str]] = field(default_factory=dict)

    async def consent(self, url: str) -> None:
        parts = urlsplit(url)
        self.scopes.append(parse_qs(parts.query)["scope"][0])
        self.browser.open(f"{parts.path}?{parts.query}")
        page = self.browser.submit("/oauth2/decision", decision="allow", folder=self.choice)
        match = re.search(r'http-equiv="refresh" content="0; url=([^"]+)"', page.text)
        assert match is not None, page.text
        self.returned = parse_qs(urlsplit(html.unescape(match[1])).query)

    async def callback(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult(
            **{name: self.returned[name][0] for name in ("code", "state", "iss")}
        )


@dataclass
class Desk:
    """A folder with a file, one without, and a registered client."""

    server: LiveServer
    person: Person
    store: Store
    secret: dict[str, Any]

    async def run(self, mode: str) -> str:
        """Read and write files; return the revision of the connection."""
        metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(REDIRECT_URI)], client_name="Assistant")
        url = f"{self.server.url}/mcp"
        login = OAuthClientProvider(url, metadata, self.store, self.person.consent, self.person.callback)
        async with httpx2.AsyncClient(auth=login) as http:
            transport = streamable_http_client(url, http_client=http)
            async with Client(transport, mode=mode) as client:
                await self._use(client, f"{mode}.txt")
                return client.protocol_version

    async def _use(self, client: Client, name: str) -> None:
        lines = await client.call_tool("files_grep", {"text": "june"})
        assert [match["name"] for match in lines.structured_content["matches"]] == ["sales.txt"]
        assert (await client.call_tool("files_read", {"fileId": self.secret["id"]})).is_error
        created = await client.call_tool("files_write", {"name": name, "content": "x"})
        assert not created.is_error


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    folder = tmp_path_factory.mktemp("server")
    with live_server(folder, plugins=["mcp", "login_pages", "oidc_provider"]) as server:
        yield server


@pytest.fixture
def desk(server: LiveServer) -> Desk:
    user, root = server.user(), server.user(admin=True)
    tenant = server.tenant(user)
    folder = server.folder_in(tenant, user, "Reports")["id"]
    server.upload(tenant, user, "sales.txt", b"Sales in May\nSales in June\n", folder)
    secret = server.upload(tenant, user, "secret.txt", b"June")
    body = {
        "name": "Assistant",
        "public": True,
        "redirectUris": ["http://127.0.0.1/callback"],
        "scopes": SCOPES,
        "resources": [f"{server.url}/mcp"],
    }
    registered = server.succeed("POST", "/api/v1/clients", by=root, json_body=body)
    browser = Browser(server)
    browser.log_in(user)
    known = OAuthClientInformationFull(
        client_id=registered["id"],
        redirect_uris=[AnyUrl(REDIRECT_URI)],
        token_endpoint_auth_method="none",
    )
    return Desk(server, Person(browser, f"{tenant}/{folder}"), Store(known), secret)


def test_the_official_client_logs_in_and_requests_more(desk: Desk, mode: str) -> None:
    assert asyncio.run(desk.run(mode)) == MODES[mode]
    first, second = (set(scopes.split()) for scopes in desk.person.scopes)
    assert first == {"files:read", "offline_access"}
    assert second == {"files:read", "files:write", "offline_access"}
    tokens = desk.store.tokens
    assert tokens is not None
    assert tokens.refresh_token is not None
