"""The core leaves objects that their store locks."""

import io
from pathlib import Path

import pytest

from strongroom.content.storage.blob_removal import ABANDONED_AFTER
from strongroom.content.storage.models import new_key
from strongroom.content.storage.namespaces import Namespace
from strongroom.content.storage.service import BlobService
from strongroom.content.storage.stores import ObjectLocked
from strongroom.extensions.storage_maintenance.fsck import FindingKind, StorageCheck
from strongroom.foundation.database import Database
from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.storage import InnerStorage, ObjectLock
from strongroom.testing.clock import ManualClock
from strongroom.testing.keys import MemoryKeys
from strongroom_storage_encrypted.wrapper import EncryptedStorage
from strongroom_storage_local.backend import LocalBackend
from strongroom_storage_local.options import LocalOptions


class LockingBackend(LocalBackend, ObjectLock):
    """A folder whose objects are locked until a time."""

    until: int | None = 4_000_000_000_000

    def locked_until(self, key: str) -> int | None:
        return self.until


@pytest.fixture
def backend(tmp_path: Path) -> LockingBackend:
    return LockingBackend(LocalOptions(root=tmp_path / "files"))


@pytest.fixture
def blobs(database: Database, clock: ManualClock, backend: LockingBackend) -> BlobService:
    return BlobService(database, clock, {"main": backend}, "main")


def test_garbage_collection_waits_for_the_end(
    blobs: BlobService, backend: LockingBackend, clock: ManualClock
) -> None:
    received = blobs.receive(io.BytesIO(b"x"), size=1, max_bytes=9)
    key = received.blob.key
    blobs.discard(key)
    assert backend.stat(key).size == 1
    assert blobs.collect() == 0
    backend.until = None
    # Until then, the store is not asked again.
    assert blobs.collect() == 0
    clock.advance(4_000_000_000_000 - clock.now())
    assert blobs.collect() >= 1
    assert [item for item in backend.scan() if item.key == key] == []


def test_a_repair_leaves_locked_objects(
    blobs: BlobService, backend: LockingBackend, clock: ManualClock, database: Database
) -> None:
    for _ in range(3):
        blobs.receive(io.BytesIO(b"x"), size=1, max_bytes=9)
    stray = new_key()
    backend.put(stray, io.BytesIO(b"stray"))
    clock.advance((backend.stat(stray).modified_at or 0) + ABANDONED_AFTER + 1 - clock.now())
    found = list(StorageCheck(database, clock, blobs).run(repair=True))
    strays = [finding for finding in found if finding.kind is FindingKind.STRAY]
    assert [(finding.key, finding.repaired) for finding in strays] == [(stray, False)]
    with pytest.raises(ObjectLocked):
        blobs.storages["main"].delete(stray)


def test_wrappers_pass_it_on(backend: LockingBackend) -> None:
    inner, keys = Namespace(backend, "secret"), MemoryKeys()
    encrypted = EncryptedStorage(NoOptions(), InnerStorage("secret", inner, lambda: keys))
    for storage in (inner, encrypted):
        lock = storage.capability(ObjectLock)
        assert lock is not None
        assert lock.locked_until("ab/key") == LockingBackend.until
