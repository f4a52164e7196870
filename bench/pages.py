"""A page of the user's own files over HTTP, compared with the peer, both with many files.

The same page is also compared with itself, compressed.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.client import Client
from bench.forms import raw_headers
from bench.harness import Plan, Row
from bench.load import Contender, build_request, side_by_side
from bench.pocketbase import NAME as PEER
from bench.pocketbase import RECORDS, PeerClient, pocketbase
from bench.servers import strongroom
from strongroom.foundation.collation import sort_key

FILES: Final = 10_000
PAGE: Final = 50
CLIENTS: Final = 8

_NODES: Final = """
INSERT INTO nodes (id, tenant_id, parent_id, type, name, blob_key, size, content_type, checksum,
                   owner_id, created_at, updated_at, revision, sort_key)
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count - 1)
SELECT printf('00000000-0000-7000-8000-%012d', numbers.n), tenant_id, parent_id, type,
       'file ' || numbers.n, blob_key, size, content_type, checksum, owner_id,
       created_at, updated_at, revision, sort_key('file ' || numbers.n)
FROM numbers, nodes WHERE nodes.id = :made
"""
_GRANTS: Final = """
INSERT INTO grants (node_id, user_id, tenant_id, permission, created_at, node_name, parent_visible_until,
                    node_sort_key)
SELECT nodes.id, user_id, nodes.tenant_id, permission, grants.created_at, name, parent_visible_until,
       nodes.sort_key
FROM nodes, grants
WHERE grants.node_id = :made AND nodes.id <> :made AND nodes.parent_id IS NOT NULL
"""
_COUNT: Final = "UPDATE folder_counts SET children = :count"
_RECORDS: Final = """
INSERT INTO files (id, name, owner, file)
WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < :count - 1)
SELECT printf('record%09d', numbers.n), 'file ' || numbers.n, owner, file
FROM numbers, files WHERE files.id = :made
"""


def measure(plan: Plan) -> list[Row]:
    """Measure pages a second, and what each costs the server."""
    with (
        TemporaryDirectory() as name,
        strongroom(Path(name)) as server,
        pocketbase(Path(name)) as peer,
    ):
        folder, client, peer_client = Path(name), Client(server), PeerClient(peer)
        page = f"page of {PAGE} of {FILES:,} of one's own, {CLIENTS} clients"
        plain = page_request(folder, client)
        ours = Contender("Strongroom", server, plain)
        peers = Contender(PEER, peer, _peer_request(folder, peer_client))
        client.headers["Accept-Encoding"] = "gzip"
        coded = Contender("Strongroom", server, _path_request(client))
        return [
            *side_by_side(plan, page, CLIENTS, ours, peers),
            *side_by_side(
                plan, f"{page}, compressed", CLIENTS, coded, Contender("plain", server, plain)
            ),
        ]


def page_request(folder: Path, client: Client) -> bytes:
    """Make the files, and return the request for their first page."""
    node = client.upload(client.files, raw_headers("file"), b"content")
    _write(folder / "data" / "strongroom.sqlite3", node["id"], _NODES, _GRANTS, _COUNT, "ANALYZE")
    return _path_request(client)


def _path_request(client: Client) -> bytes:
    path = client.files.removesuffix("/files") + f"/owners/me/files?pageSize={PAGE}"
    return build_request("GET", path, client.headers)


def _peer_request(folder: Path, client: PeerClient) -> bytes:
    record = client.upload_file("file", b"content")
    _write(folder / "pocketbase" / "data.db", record["id"], _RECORDS, "ANALYZE")
    return build_request("GET", f"{RECORDS}?perPage={PAGE}&sort=name", client.headers)


def _write(path: Path, made: str, *statements: str) -> None:
    """Multiply the one row that was made by the server itself."""
    with closing(sqlite3.connect(path, timeout=30)) as connection, connection:
        connection.create_function("sort_key", 1, sort_key)
        for statement in statements:
            connection.execute(statement, {"made": made, "count": FILES})
