"""Collections concurrent with each other and with uploads remove no referenced bytes."""

import io
from pathlib import Path

from sqlalchemy import select
from tests.support.http import at_once

from strongroom.content.storage.models import BlobState, blobs
from strongroom.content.storage.service import BlobService
from strongroom.foundation.database import Database
from strongroom.testing.clock import ManualClock
from strongroom_storage_local.backend import LocalBackend
from strongroom_storage_local.options import LocalOptions

EACH = 30


class Node:
    """One of several processes on the same database and storage."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.database = Database(database_url)
        storages = {"main": LocalBackend(LocalOptions(root=folder))}
        self.blobs = BlobService(self.database, ManualClock(), storages, "main")

    def upload(self, *, release: bool) -> str:
        received = self.blobs.receive(io.BytesIO(b"x" * 100), size=None, max_bytes=1000)
        with self.database.write() as connection:
            self.blobs.commit(connection, received.blob)
        if release:
            with self.database.write() as connection:
                self.blobs.release(connection, [received.blob.key])
        return received.blob.key

    def upload_and_release(self) -> set[str]:
        """Upload, release every other, and return the keys of those that count."""
        return {self.upload(release=False) for _ in range(EACH) if self.upload(release=True)}

    def collect(self) -> set[str]:
        for _ in range(EACH):
            self.blobs.collect()
        return set()

    def objects(self) -> set[str]:
        return {item.key for item in self.blobs.storages["main"].scan()}


def test_two_collections_and_uploads_at_once_leave_exactly_what_counts(
    database_url: str, tmp_path: Path
) -> None:
    one, other = (Node(database_url, tmp_path / "files") for _ in range(2))
    work = [one.upload_and_release, other.upload_and_release, one.collect, other.collect]
    kept = set[str]().union(*at_once(work))
    one.blobs.collect()
    for node in (one, other):
        # Deletes the rows that are reserved for later blobs.
        node.blobs.close()
    assert one.objects() == kept
    with one.database.read() as connection:
        rows = connection.execute(select(blobs.c.key, blobs.c.state)).all()
    assert {(row.key, row.state) for row in rows} == {(key, BlobState.STORED) for key in kept}
    one.database.close()
    other.database.close()


def test_what_two_collections_remove_counts_for_one_of_them(database_url: str, tmp_path: Path) -> None:
    node = Node(database_url, tmp_path / "files")
    for _ in range(EACH):
        node.upload(release=True)
    assert node.blobs.collectable() == EACH
    assert sum(at_once([node.blobs.collect, node.blobs.collect])) == EACH
    node.database.close()
