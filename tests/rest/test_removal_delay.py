"""Bytes of removed files that are kept for a recovery of the database."""

import pytest
from tests.support.api import Api

from strongroom.clock import DAY
from strongroom.content.storage.service import BlobService


@pytest.mark.config({"files": {"removal_delay_days": 7}})
def test_the_bytes_of_removed_files_are_kept_for_some_days(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    node = api.upload(tenant, alice, "note", b"kept")
    before = api.stored_objects()
    path = f"{tenant}/files/{node['id']}?permanently=true"
    assert api.delete(path, by=alice).status_code == 200
    blobs = api.container.get(BlobService)
    assert blobs.collect() == 0
    assert api.stored_objects() == before
    api.clock.advance(7 * DAY)
    assert blobs.sweep() == 1
    assert api.stored_objects() == before - 1
