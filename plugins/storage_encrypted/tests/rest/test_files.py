"""Files in an encrypted storage over a bucket: requests, maintenance, migration and tenants."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import pyrage
import pytest
from tests.support.api import Api
from tests.support.config import Table
from tests.support.stores import ObjectStore, s3_store

from strongroom.builtin.key_file import create_key_file
from strongroom.content.storage.ownership import OWNER_KEY, WRAPPED
from strongroom.content.storage.service import BlobService
from strongroom.extensions.storage_maintenance.fsck import StorageCheck
from strongroom.extensions.storage_maintenance.migration import Migration, MigrationPlan
from strongroom.plugin_api.storage import StorageBackend, WrappedKeys

CONTENT = secrets.token_bytes(300_000)


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with s3_store() as store:
        yield store


@pytest.fixture
def config_changes(tmp_path: Path, store: ObjectStore) -> Table:
    create_key_file(tmp_path / "master-keys.json")
    return {
        "plugins": {"enabled": ["storage_local", "storage_s3", "storage_encrypted"]},
        "keys": {"path": str(tmp_path / "master-keys.json")},
        "files": {"storage": "vault"},
        "storages": {
            "bucket": {**store.options(), "prefix": secrets.token_hex(8)},
            "vault": {"backend": "encrypted", "over": "bucket"},
        },
    }


def stored(api: Api, storage: str = "bucket") -> dict[str, bytes]:
    """Return the content of a storage, by key."""
    backend: StorageBackend[object] = api.container.get(BlobService).storages[storage].backend
    found = {}
    for item in backend.scan():
        with backend.open(item.key) as chunks:
            found[item.key] = b"".join(chunks)
    return found


def objects(api: Api) -> dict[str, bytes]:
    """Return the encrypted objects of files."""
    prefix = f"{WRAPPED}{b'vault'.hex()}/"
    files = {key.removeprefix(prefix): content for key, content in stored(api).items()}
    # Those of the server itself, and not each of a file whose key begins with zeros.
    reserved = ("00/00/", "00/01/", "00/02/", "00/03/")
    return {key: content for key, content in files.items() if not key.startswith(reserved)}


def faults(api: Api) -> list[str]:
    check = api.container.get(StorageCheck)
    return [f"{found.kind} {found.key}" for found in check.run(checksums=True)]


def test_a_file_is_encrypted_in_the_store_and_plain_to_its_readers(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    node = api.upload(tenant, alice, "a.bin", CONTENT)
    path = f"{tenant}/files/{node['id']}/download"
    assert api.get(path, by=alice).data == CONTENT
    for first, last in ((0, 0), (65_535, 65_536), (100_000, 299_999)):
        part = api.get(path, by=alice, headers={"Range": f"bytes={first}-{last}"})
        assert (part.status_code, part.data) == (206, CONTENT[first : last + 1])
    assert not any(CONTENT[:100] in content for content in stored(api).values())
    assert faults(api) == []


def test_age_reads_the_object_with_the_exported_key_of_the_tenant(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    api.upload(tenant, alice, "a.bin", CONTENT)
    keys = api.container.get(BlobService).storages["vault"].capability(WrappedKeys)
    assert keys
    (line,) = keys.export_keys(tenant.rpartition("/")[2]).splitlines()
    (content,) = objects(api).values()
    assert pyrage.decrypt(content, [pyrage.x25519.Identity.from_str(line)]) == CONTENT


def test_fsck_finds_a_changed_object_and_neither_storage_sees_the_other_s(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    api.upload(tenant, alice, "a.bin", CONTENT)
    api.upload(tenant, alice, "b.bin", CONTENT)
    services = api.container
    first, second = sorted(objects(api))
    backend, place = services.get(BlobService).storages["bucket"].backend, f"{WRAPPED}{b'vault'.hex()}/"
    backend.copy(place + first, place + second)  # type: ignore[attr-defined]
    assert faults(api) == [f"wrong-content {second}"]
    assert [
        len(list(services.get(BlobService).storages[name].scan())) for name in ("bucket", "vault")
    ] == [0, 2]


def test_files_move_to_the_encrypted_storage_and_back(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    node = api.upload(tenant, alice, "a.bin", CONTENT)
    services = api.container
    for source, target in (("vault", "bucket"), ("bucket", "vault"), ("vault", "main")):
        report = services.get(Migration).run(MigrationPlan(source, target, grace=0))
        assert (report.moved, report.damaged) == (1, [])
        assert api.get(f"{tenant}/files/{node['id']}/download", by=alice).data == CONTENT
        assert faults(api) == []
    assert objects(api) == {}


def test_a_migrated_file_has_the_key_of_its_tenant(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    api.upload(tenant, alice, "a.bin", CONTENT)
    services = api.container
    services.get(Migration).run(MigrationPlan("vault", "bucket", grace=0))
    services.get(Migration).run(MigrationPlan("bucket", "vault", grace=0))
    services.get(BlobService).drop_scope(tenant.rpartition("/")[2])
    (key,) = objects(api)
    assert faults(api) == [f"wrong-content {key}"]


def test_a_purged_tenant_has_no_key_left(api: Api) -> None:
    alice = api.person()
    tenant = api.tenant(alice)
    api.upload(tenant, alice, "a.bin", CONTENT)
    tenant_id = tenant.rpartition("/")[2]
    keys = api.container.get(BlobService).storages["vault"].capability(WrappedKeys)
    assert keys
    assert keys.export_keys(tenant_id)
    assert api.delete(tenant, by=alice).status_code == 200
    api.clock.advance(31 * 24 * 3600 * 1000)
    dict(api.container.prune_job().run())
    assert keys.export_keys(tenant_id) == ""
    # The key of what belongs to no tenant, such as the owner marker, remains.
    assert keys.export_keys(None)


def test_the_owner_marker_is_encrypted_too(api: Api) -> None:
    api.upload(api.tenant(alice := api.person()), alice, "a.bin", b"x")
    marker = stored(api)[f"{WRAPPED}{b'vault'.hex()}/{OWNER_KEY}"]
    assert marker.startswith(b"age-encryption.org/v1\n")
