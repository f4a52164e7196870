"""``host.files.writing``: files that a plugin writes piece by piece."""

import hashlib
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest
from tests.support.api import Api
from tests.support.scanners import SCANNING, VIRUS, install_word_scanner

from strongroom.assembly.plugin_host.files.content import SizedSource
from strongroom.content.storage.service import BlobService
from strongroom.plugin_api.files import FileSink
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.storage import ByteSource, StorageUnavailable
from strongroom.plugin_api.web import ApiError

MIB: Final = 1024 * 1024


@pytest.fixture
def host(api: Api) -> HostAPI:
    return api.container.hosts.get("storage_local")


@pytest.fixture
def tenant(api: Api, host: HostAPI) -> Iterator[str]:
    """A tenant, whose administrator the plugin acts as."""
    owner = api.person()
    path = api.tenant(owner)
    with host.acting_as(owner.id):
        yield path.rpartition("/")[2]


def names(host: HostAPI, tenant: str) -> list[str]:
    return [file.name for file in host.files.list(tenant, None).items]


def content(host: HostAPI, tenant: str, file_id: str) -> bytes:
    with host.files.open(tenant, file_id) as chunks:
        return b"".join(chunks)


def test_what_is_written_in_a_block_is_a_file_after_it(host: HostAPI, tenant: str) -> None:
    with host.files.writing(tenant, None, "a.txt") as sink:
        for piece in (b"one ", b"", bytearray(b"two "), memoryview(b"three")):
            assert sink.write(piece) == len(piece)
        with pytest.raises(RuntimeError):
            _ = sink.file
        assert names(host, tenant) == []
    assert sink.file == host.files.stat(tenant, sink.file.id)
    assert content(host, tenant, sink.file.id) == b"one two three"
    assert sink.file.checksum == hashlib.sha256(b"one two three").hexdigest()


def test_a_block_that_writes_nothing_makes_an_empty_file(host: HostAPI, tenant: str) -> None:
    with host.files.writing(tenant, None, "empty.txt") as sink:
        pass
    assert sink.file.size == 0


@pytest.mark.parametrize("size", [None, 8], ids=["unknown size", "all of a known size"])
def test_a_block_that_raises_stores_nothing(
    api: Api, host: HostAPI, tenant: str, size: int | None
) -> None:
    threads = threading.active_count()
    with suppress(KeyError), host.files.writing(tenant, None, "a.txt", size=size) as sink:
        sink.write(b"all of i")
        raise KeyError
    assert names(host, tenant) == []
    assert api.stored_objects() == 0
    assert threading.active_count() == threads


def test_a_storage_that_does_not_read_the_end_stores_nothing_of_a_block_that_raises(
    api: Api, host: HostAPI, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = api.container.get(BlobService).storages["main"]
    put, stored = store.put, threading.Event()

    def put_size(key: str, source: ByteSource, *, size: int, scope: str | None) -> int:
        result = put(key, SizedSource(source, size), size=size, scope=scope)
        stored.set()
        return result

    monkeypatch.setattr(store, "put", put_size)
    with suppress(KeyError), host.files.writing(tenant, None, "a.txt", size=8) as sink:
        sink.write(b"all of i")
        assert stored.wait(60)
        raise KeyError
    assert names(host, tenant) == []
    assert api.stored_objects() == 0
    with host.files.writing(tenant, None, "a.txt", size=8) as sink:
        sink.write(b"all of i")
    assert names(host, tenant) == ["a.txt"]


def test_what_needs_no_content_is_refused_before_the_block(host: HostAPI, tenant: str) -> None:
    with host.files.writing(tenant, None, "a.txt"):
        pass
    for name, parent, code in (
        ("a.txt", None, "error.name-conflict"),
        ("a/b", None, "error.validation-failed"),
        ("b.txt", "0" * 36, "error.not-found"),
    ):
        with pytest.raises(ApiError) as raised, host.files.writing(tenant, parent, name):
            pytest.fail("it was not refused")
        assert raised.value.code == code


def write_mebibytes(sink: FileSink, number: int) -> None:
    piece = bytes(MIB)
    for _ in range(number):
        sink.write(piece)


@pytest.mark.config({"files": {"max_file_bytes": 2 * MIB}})
def test_a_file_that_becomes_too_large_ends_its_block(host: HostAPI, tenant: str) -> None:
    with pytest.raises(ApiError) as raised, host.files.writing(tenant, None, "a.bin") as sink:
        write_mebibytes(sink, 64)
    assert raised.value.code == "error.payload-too-large"
    assert names(host, tenant) == []


def test_a_quota_ends_a_block(api: Api, host: HostAPI, tenant: str) -> None:
    admin = api.person(admin=True)
    assert api.patch(f"/api/v1/tenants/{tenant}", {"quotaBytes": 10}, by=admin).status_code == 200
    with pytest.raises(ApiError) as raised, host.files.writing(tenant, None, "a.bin", size=11):
        pytest.fail("it was not refused")
    assert raised.value.code == "error.storage-full"
    with pytest.raises(ApiError) as raised, host.files.writing(tenant, None, "a.bin") as sink:
        sink.write(bytes(11))
    assert raised.value.code == "error.storage-full"
    assert api.stored_objects() == 0


@pytest.mark.parametrize("written", [b"12345", b"1234567"], ids=["less", "more"])
def test_another_size_than_announced_stores_nothing(host: HostAPI, tenant: str, written: bytes) -> None:
    with (
        pytest.raises((ApiError, ValueError)),
        host.files.writing(tenant, None, "a.txt", size=6) as sink,
        suppress(ValueError),
    ):
        sink.write(written)
    assert names(host, tenant) == []


def test_another_checksum_than_expected_stores_nothing(host: HostAPI, tenant: str) -> None:
    with (
        pytest.raises(ApiError) as raised,
        host.files.writing(tenant, None, "a.txt", checksum="0" * 64) as sink,
    ):
        sink.write(b"abc")
    assert raised.value.code == "error.digest-mismatch"
    assert names(host, tenant) == []


def test_a_storage_that_fails_ends_a_block(
    api: Api, host: HostAPI, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = api.container.get(BlobService).storages["main"]

    def fail(*_: object, **__: object) -> None:
        raise StorageUnavailable("away")

    monkeypatch.setattr(store, "put", fail)
    with pytest.raises(ApiError) as raised, host.files.writing(tenant, None, "a.bin") as sink:
        write_mebibytes(sink, 8)
    assert raised.value.code == "error.unavailable"


@pytest.mark.config({"files": {"max_file_bytes": 64 * MIB}})
def test_large_content_is_never_in_memory(host: HostAPI, tenant: str) -> None:
    with host.files.writing(tenant, None, "warm.bin") as sink:
        write_mebibytes(sink, 2)
    tracemalloc.start()
    with host.files.writing(tenant, None, "large.bin", size=48 * MIB) as sink:
        write_mebibytes(sink, 48)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert sink.file.size == 48 * MIB
    assert peak < 12 * MIB


@pytest.fixture
def words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install_word_scanner(tmp_path / "plugins", monkeypatch)


@pytest.mark.config(SCANNING)
@pytest.mark.usefixtures("words")
def test_content_is_scanned_before_it_is_a_file(host: HostAPI, tenant: str) -> None:
    with pytest.raises(ApiError) as raised, host.files.writing(tenant, None, "a.txt") as sink:
        sink.write(VIRUS)
    assert raised.value.code == "error.content-infected"
    assert names(host, tenant) == []
