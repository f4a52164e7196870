"""Blobs in a folder, rows that refer to them, and the check of storages."""

import io
from pathlib import Path

from sqlalchemy import insert, update

from strongroom.content.storage.models import blobs, new_key
from strongroom.content.storage.service import BlobService
from strongroom.extensions.business_files.models import business_files
from strongroom.extensions.storage_maintenance.fsck import Finding, FindingKind, StorageCheck
from strongroom.foundation.database import Database
from strongroom.identity.users.service import UserService
from strongroom.testing.clock import ManualClock
from strongroom_storage_local.backend import LocalBackend
from strongroom_storage_local.options import LocalOptions

DAY_LATER = 4_000_000_000_000
"""A time at which all that this test wrote to the disk is old."""


class Bench:
    """Blobs, something that refers to them, and the check."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.clock = ManualClock(DAY_LATER)
        self.database = Database(database_url)
        self.storage = LocalBackend(LocalOptions(root=folder))
        self.blobs = BlobService(self.database, self.clock, {"main": self.storage}, "main")
        self.check = StorageCheck(self.database, self.clock, self.blobs)
        with self.database.write() as connection:
            self.owner = UserService(self.clock).create(connection, "Somebody").id

    def close(self) -> None:
        self.database.close()

    def keep(self, content: bytes, *, referred: bool = True) -> str:
        received = self.blobs.receive(io.BytesIO(content), size=None, max_bytes=1000)
        with self.database.write() as connection:
            self.blobs.commit(connection, received.blob)
            if referred:
                self._refer(connection, received.blob.key)
        # Deletes the rows that are reserved for later blobs.
        self.blobs.close()
        return received.blob.key

    def _refer(self, connection: "object", key: str) -> None:
        row = {
            "name": f"{key[-8:]}.bin",
            "profile": "files",
            "blob_key": key,
            "owner_id": self.owner,
            "content_type": "application/octet-stream",
            "size": 1,
            "created_at": 0,
        }
        connection.execute(insert(business_files).values(row))  # type: ignore[attr-defined]

    def put_stray(self, content: bytes) -> str:
        key = new_key()
        self.storage.put(key, io.BytesIO(content))
        return key

    def run(self, *, checksums: bool = False, repair: bool = False) -> list[Finding]:
        return list(self.check.run(checksums=checksums, repair=repair))

    def found(self, *, checksums: bool = False) -> list[tuple[FindingKind, str]]:
        return [(finding.kind, finding.key) for finding in self.run(checksums=checksums)]

    def objects(self) -> set[str]:
        return {item.key for item in self.blobs.storages["main"].scan()}

    def change(self, key: str, **values: object) -> None:
        with self.database.write() as connection:
            connection.execute(update(blobs).where(blobs.c.key == key).values(values))
