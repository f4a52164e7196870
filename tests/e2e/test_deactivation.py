"""A suspension on one node ends what the user has on another: two servers, PostgreSQL and Redis."""

import json
import os
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, IncompleteRead
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from strongroom.web.http.downloads import WATCH_SECONDS
from tests.support.api import creation_headers
from tests.support.client import PASSWORD, Client, Json
from tests.support.databases import PostgresqlDatabases
from tests.support.redis import RedisServer
from tests.support.server import Server, serving_nodes

pytestmark = pytest.mark.extended

PLUGINS: Json = {"plugins": {"enabled": ["storage_local", "share_links"]}}
TUS = {"Tus-Resumable": "1.0.0"}
SIZE = 64 * 1024 * 1024


@pytest.fixture(scope="module")
def nodes(
    tmp_path_factory: pytest.TempPathFactory, postgresql_databases: PostgresqlDatabases
) -> Iterator[tuple[Server, Server]]:
    folder: Path = tmp_path_factory.mktemp("nodes")
    postgresql_databases.execute("CREATE DATABASE deactivation")
    with RedisServer.serving(folder) as redis:
        changes: Json = {"redis": {"url": redis.url}, "server": {"workers": 2}}
        url = postgresql_databases.url("deactivation")
        with serving_nodes(folder, url, PLUGINS, changes) as (one, other):
            one.create_user("root@example.com", PASSWORD, "--admin")
            one.create_user("owner@example.com")
            yield one, other
    postgresql_databases.execute("DROP DATABASE deactivation WITH (FORCE)")


class Holder:
    """A user who has made secrets on one node, and uses them on the other."""

    def __init__(self, nodes: tuple[Server, Server], name: str) -> None:
        one, other = nodes
        self.root = Client.logged_in(one.url, "root@example.com")
        self.owner = Client.logged_in(one.url, "owner@example.com")
        self.email = f"{name}@example.com"
        one.create_user(self.email)
        body = {"username": self.email, "password": PASSWORD}
        self.login = Client(one.url).expect(200, "POST", "/authorizations", body).json()
        self.id = self.login["user"]["id"]
        self.client = Client(one.url, self.login["accessToken"])
        self.tenant = self.owner.make_tenant(name)
        self.owner.expect(200, "PUT", f"{self.tenant}/members/{self.id}", {"role": "member"})
        self.file = self.client.upload(self.tenant, "large.bin", os.urandom(SIZE))["id"]
        self.make()
        self.other = Client(other.url, self.client.token)

    def make(self) -> None:
        key = {"name": "key", "scopes": ["files:read"], "currentPassword": PASSWORD}
        self.key = self.client.expect(201, "POST", "/users/me/access-keys", key).json()["key"]
        share = f"{self.tenant}/files/{self.file}/shares"
        made = self.client.expect(201, "POST", share, {"kind": "read"}).json()
        self.share = f"/api/v1/shares/{made['url'].rpartition('/')[2]}"
        with closing(self.client.connect()) as connection:
            headers = self.client.headers(creation_headers(9, filename="a.bin"))
            connection.request("POST", f"{self.tenant}/uploads", headers=headers)
            self.upload = urlsplit(connection.getresponse().headers["Location"]).path

    def uses(self, client: Client) -> dict[str, int]:
        """Return the statuses of the other node, by what is used."""
        files, changes = f"{self.tenant}/owners/me/files", f"{self.tenant}/changes"
        key = Client(client.url, self.key)
        return {
            "token": client.request("GET", "/users/me").status,
            "files": client.request("GET", files).status,
            "changes": client.request("GET", changes).status,
            "key": key.request("GET", files).status,
            "upload": client.request("HEAD", self.upload, headers=TUS).status,
            "share": Client(client.url).request("GET", self.share).status,
        }

    def refresh(self) -> int:
        body = json.dumps({"refreshToken": self.login["refreshToken"]}).encode()
        headers = {"Content-Type": "application/json"}
        return Client(self.other.url).request("POST", "/authorizations/refresh", body, headers).status

    def open(self, path: str, **headers: str) -> HTTPConnection:
        """Begin a request on the other node."""
        connection = self.other.connect()
        connection.request("GET", path, headers=self.other.headers(headers))
        return connection


SUSPENSIONS: dict[str, tuple[str, str, Json | None]] = {
    "suspension": ("POST", "/suspension", None),
    "status": ("PATCH", "", {"status": "suspended"}),
}


@pytest.mark.parametrize("path", SUSPENSIONS)
def test_all_of_it_ends_at_once_on_the_other_node(nodes: tuple[Server, Server], path: str) -> None:
    holder = Holder(nodes, path)
    assert set(holder.uses(holder.other).values()) == {200}
    method, suffix, body = SUSPENSIONS[path]
    with (
        closing(holder.open(f"{holder.tenant}/changes", Accept="text/event-stream")) as stream,
        closing(holder.open(f"{holder.tenant}/files/{holder.file}/download")) as download,
    ):
        events, content = stream.getresponse(), download.getresponse()
        assert (events.status, content.status) == (200, 200)
        began = time.monotonic()
        holder.root.expect(200, method, f"/users/{holder.id}{suffix}", body)
        after = holder.uses(holder.other)
        assert after.pop("share") in (401, 404, 410), after
        assert set(after.values()) == {401}
        assert holder.refresh() == 401
        # The stream ends with the event that lets the client connect again, which is refused.
        assert b"event: reconnect" in events.read()
        # A login is verified again after a second, while the client has not read on.
        while time.monotonic() < began + WATCH_SECONDS:
            assert holder.refresh() == 401
        with pytest.raises(IncompleteRead):
            content.read()
    holder.root.expect(200, "DELETE", f"/users/{holder.id}/suspension")
    again = Client.logged_in(holder.other.url, holder.email)
    uses = holder.uses(again)
    assert (uses.pop("key"), uses.pop("upload")) == (401, 404)
    assert set(uses.values()) == {200}
    assert holder.refresh() == 401
    assert holder.other.request("GET", "/users/me").status == 401
