"""Backups in tests: writers that a backup runs under, and empty places where archives are restored."""

import hashlib
import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from sqlalchemy import select

from strongroom.activity.audit.verifier import AuditVerifier
from strongroom.content.nodes.models import nodes
from strongroom.content.storage.models import BlobState, blobs
from strongroom.content.storage.service import BlobService
from tests.e2e.offline import services
from tests.support.client import Client
from tests.support.commands import run_command
from tests.support.server import Server, write_config

WRITERS = 4


@dataclass
class Writers:
    """Clients that upload, rename and delete files until stopped."""

    client: Client
    tenant: str
    acknowledged: dict[str, str] = field(default_factory=dict)
    deleting: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    _stop: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Write until the block ends; an error of a writer fails the test."""
        with ThreadPoolExecutor(WRITERS) as pool:
            work = [pool.submit(self._write, number) for number in range(WRITERS)]
            try:
                yield
            finally:
                self._stop.set()
        for outcome in work:
            outcome.result()

    def surely_there(self) -> set[str]:
        """Return the acknowledged files whose deletion has not begun."""
        with self._lock:
            return set(self.acknowledged) - self.deleting

    def _write(self, number: int) -> None:
        round_, mine = 0, list[str]()
        while not self._stop.is_set():
            round_ += 1
            content = os.urandom(20_000 + 1000 * number)
            node = self.client.upload(self.tenant, f"{number}-{round_}.bin", content)
            mine.append(node["id"])
            with self._lock:
                self.acknowledged[node["id"]] = node["checksum"]
            if len(mine) > 2:
                self._delete(mine.pop(0))

    def _delete(self, node: str) -> None:
        with self._lock:
            self.deleting.add(node)
        self.client.expect(200, "DELETE", f"{self.tenant}/files/{node}?permanently=true")
        with self._lock:
            del self.acknowledged[node]
            self.deleted.add(node)


@dataclass
class BlobLocation:
    """Where archives are restored: a configuration with an empty database and an empty folder."""

    config: Path

    def restore(self, archive: Path, *options: str) -> None:
        """Restore an archive."""
        result = run_command("--config", str(self.config), "backup", "restore", str(archive), *options)
        assert result.returncode == 0, result.stderr


@contextmanager
def place(tmp_path: Path, url: str, name: str) -> Iterator[BlobLocation]:
    folder = tmp_path / name
    folder.mkdir()
    yield BlobLocation(write_config(folder, url))


def back_up(server: Server, archive: Path) -> None:
    """Make an archive while the server runs."""
    server.command("backup", "create", str(archive))


def assert_whole(there: BlobLocation) -> set[str]:
    """Check rows against bytes and the audit record against itself; return the ids of all files."""
    with services(there.config) as container, container.database.read() as connection:
        stored = connection.execute(select(blobs)).all()
        files = connection.execute(select(nodes.c.id, nodes.c.blob_key).where(nodes.c.type == "file"))
        keys = {row.id: row.blob_key for row in files}
        store = container.get(BlobService).storages["main"]
    assert {row.state for row in stored} == {BlobState.STORED.value}
    assert set(keys.values()) == {row.key for row in stored}
    for row in stored:
        with store.open(row.key) as chunks:
            content = b"".join(chunks)
        assert (len(content), hashlib.sha256(content).hexdigest()) == (row.size, row.checksum)
    assert {item.key for item in store.scan()} == {row.key for row in stored}
    with services(there.config) as container:
        container.get(AuditVerifier).verify(None)
    return set(keys)
