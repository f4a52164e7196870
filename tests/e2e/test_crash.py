"""Power failures during uploads: acknowledged files stay, others are complete or absent."""

import hashlib
import random
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.e2e.offline import collect_abandoned, files_below, number_of_incomplete, stored_keys
from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.server import Server, serving
from tests.support.waiting import wait_until

UPLOADS = campaign_size("CRASH_UPLOADS", 12)
STALLED = UPLOADS // 4
PIECE = 64 * 1024
PATIENCE = 120


pytestmark = [pytest.mark.config({"tokens": {"lifetime_seconds": 3600}}), pytest.mark.extended]


@dataclass
class Storm:
    """Concurrent uploads until the server dies; some stop half-way and wait for that."""

    client: Client
    tenant: str
    acknowledged: dict[str, str] = field(default_factory=dict)
    _death: threading.Event = field(default_factory=threading.Event)
    _changed: threading.Condition = field(default_factory=threading.Condition)
    _stalled: int = 0

    def rage(self, server: Server, *, kill_after: int) -> None:
        """Upload, and kill the server once so many uploads are acknowledged."""
        with ThreadPoolExecutor(UPLOADS) as pool:
            uploads = [pool.submit(self._upload, number) for number in range(UPLOADS)]
            with self._changed:
                reached = self._changed.wait_for(
                    lambda: len(self.acknowledged) >= kill_after and self._stalled == STALLED, PATIENCE
                )
            # The server need not have received all that a client has sent.
            wait_until(lambda: number_of_incomplete(server.config) >= STALLED, PATIENCE)
            server.kill()
            self._death.set()
        assert reached
        for upload in uploads:
            upload.result()

    def _upload(self, number: int) -> None:
        content = content_of(name_of(number))
        body = self._stalling(content) if number < STALLED else pieces(content)
        try:
            response = self.client.send(self.tenant, name_of(number), body, len(content))
        except (OSError, HTTPException):
            return
        assert response.status == 201, response.content
        with self._changed:
            self.acknowledged[response.json()["id"]] = name_of(number)
            self._changed.notify()

    def _stalling(self, content: bytes) -> Iterator[bytes]:
        yield from pieces(content[: len(content) // 2])
        with self._changed:
            self._stalled += 1
            self._changed.notify()
        assert self._death.wait(PATIENCE)
        yield from pieces(content[len(content) // 2 :])


def name_of(number: int) -> str:
    return f"upload-{number}.bin"


def content_of(name: str) -> bytes:
    """Return bytes that are known by the name of their file."""
    source = random.Random(name)
    return source.randbytes(source.randrange(1, 40) * PIECE // 2 + source.randrange(PIECE))


def pieces(content: bytes) -> Iterator[bytes]:
    for start in range(0, len(content), PIECE):
        yield content[start : start + PIECE]


def checksum(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def assert_whole(client: Client, tenant: str, acknowledged: dict[str, str]) -> None:
    """Check that each acknowledged file exists, and that each existing file is complete."""
    seen = {node["id"]: node for node in client.files(tenant)}
    assert acknowledged.items() <= {key: node["name"] for key, node in seen.items()}.items()
    assert not {node["name"] for node in seen.values()} & set(map(name_of, range(STALLED)))
    for node in seen.values():
        expected = content_of(node["name"])
        assert (node["size"], node["checksum"]) == (len(expected), checksum(expected))
        assert client.download(tenant, node["id"]) == expected


def survive(config: Path, *, kill_after: int) -> Storm:
    """Run a server, kill it during many uploads, and return the uploads' results."""
    email = f"alice{kill_after}@example.com"
    with serving(config) as server:
        server.create_user(email)
        client = Client.logged_in(server.url, email)
        storm = Storm(client, client.make_tenant("Acme"))
        storm.rage(server, kill_after=kill_after)
    return storm


def test_a_crash_loses_nothing_acknowledged_and_shows_nothing_half(server_config: Path) -> None:
    storms = [survive(server_config, kill_after=count) for count in (0, 1, UPLOADS // 2)]
    with serving(server_config):
        for storm in storms:
            assert_whole(storm.client, storm.tenant, storm.acknowledged)


def test_objects_of_a_crash_are_collected_a_day_later(server_config: Path) -> None:
    storm = survive(server_config, kill_after=1)
    with serving(server_config) as server:
        # Uploads that may still be open must not be removed.
        assert server.command("storage", "gc") == "0 blobs removed\n"
        assert collect_abandoned(server_config) >= STALLED
        assert_whole(storm.client, storm.tenant, storm.acknowledged)
    assert files_below(server_config.parent / "files") == stored_keys(server_config)
