"""The official client in Python, of the stateless revision and of the ones before, at a real server."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.support.agents import EVERY_SCOPE

from strongroom.testing.server import LiveServer, live_server

MODES = {"auto": "2026-07-28", "2026-07-28": "2026-07-28", "legacy": "2025-11-25"}
"""The revision of a connection by the way in which the client begins it."""


@dataclass
class Desk:
    """A folder with a file, and a key for it."""

    server: LiveServer
    tenant: str
    folder: str
    file: dict[str, Any]
    key: str

    async def run(self, mode: str) -> str:
        """Find, read, write and trash files; return the revision of the connection."""
        headers = {"Authorization": f"Bearer {self.key}"}
        async with httpx2.AsyncClient(headers=headers) as http:
            transport = streamable_http_client(f"{self.server.url}/mcp", http_client=http)
            async with Client(transport, mode=mode) as client:
                await self._read(client)
                await self._write(client, f"{mode}.txt")
                return client.protocol_version

    async def _read(self, client: Client) -> None:
        names = {tool.name for tool in (await client.list_tools()).tools}
        assert {"files_grep", "files_write", "files_trash"} <= names
        lines = await client.call_tool("files_grep", {"text": "JUNE"})
        (match,) = lines.structured_content["matches"]
        assert match["fileId"] == self.file["id"]
        content = await client.call_tool("files_read", {"fileId": match["fileId"], "length": 5})
        assert content.content[1].text == "Sales"  # type: ignore[union-attr]
        uri = f"strongroom://{self.tenant}/{self.file['id']}"
        assert uri in {str(item.uri) for item in (await client.list_resources()).resources}
        resource = await client.read_resource(uri)
        assert "June" in resource.contents[0].text  # type: ignore[union-attr]
        with pytest.raises(MCPError):
            await client.read_resource("strongroom://nothing/here")

    async def _write(self, client: Client, name: str) -> None:
        created = await client.call_tool("files_write", {"name": name, "content": "x"})
        file: Any = created.structured_content
        again = await client.call_tool("files_write", {"name": name, "content": "y"})
        assert again.is_error
        call = {"fileId": file["id"], "revision": file["revision"]}
        assert not (await client.call_tool("files_trash", call)).is_error


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with live_server(tmp_path_factory.mktemp("server"), plugins=["mcp"]) as server:
        user = server.user()
        tenant = server.tenant(user)
        folder = server.folder_in(tenant, user, "Reports")["id"]
        file = server.upload(tenant, user, "sales.txt", b"Sales in May\nSales in June\n", folder)
        body = {"name": "agent", "scopes": EVERY_SCOPE, "tenantId": tenant, "fileId": folder}
        key = server.succeed("POST", "/users/me/access-keys", by=user, json_body=body)["key"]
        yield Desk(server, tenant, folder, file, key)


@pytest.mark.parametrize("mode", MODES)
def test_the_official_client_works(desk: Desk, mode: str) -> None:
    assert asyncio.run(desk.run(mode)) == MODES[mode]
