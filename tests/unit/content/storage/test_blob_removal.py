"""Deletion leases: no bytes are deleted while one is held; leases of ended processes expire."""

from io import BytesIO

import pytest
from tests.support.api import Api

from strongroom.content.storage.blob_removal import LIFETIME, LeaseLost
from strongroom.content.storage.service import BlobService


def store(blobs: BlobService, api: Api) -> str:
    """Store bytes that count."""
    blob = blobs.receive(BytesIO(b"bytes"), size=5, max_bytes=100).blob
    with api.container.database.write() as connection:
        blobs.commit(connection, blob)
    return blob.key


def release(blobs: BlobService, api: Api, key: str) -> None:
    """Release bytes, and remove them as far as that may be now."""
    with api.container.database.write() as connection:
        released = blobs.release(connection, [key])
    blobs.remove(released)


def read(blobs: BlobService, key: str) -> bytes:
    with blobs.storages["main"].open(key) as chunks:
        return b"".join(chunks)


@pytest.fixture
def blobs(api: Api) -> BlobService:
    return api.container.get(BlobService)


def test_bytes_that_are_released_under_a_hold_stay_until_it_ends(blobs: BlobService, api: Api) -> None:
    key = store(blobs, api)
    with blobs.leases.lease():
        release(blobs, api, key)
        assert blobs.collect() == 0
        assert read(blobs, key) == b"bytes"
    assert blobs.collect() == 1


def test_a_hold_that_is_not_renewed_ends(blobs: BlobService, api: Api) -> None:
    key = store(blobs, api)
    with blobs.leases.lease() as lease:
        api.clock.advance(LIFETIME - 1)
        lease.renew()
        api.clock.advance(LIFETIME - 1)
        assert blobs.leases.any()
        api.clock.advance(1)
        assert not blobs.leases.any()
        release(blobs, api, key)
        with pytest.raises(LeaseLost):
            lease.renew()


def test_one_hold_does_not_end_another(blobs: BlobService) -> None:
    with blobs.leases.lease():
        with blobs.leases.lease():
            pass
        assert blobs.leases.any()
    assert not blobs.leases.any()
