"""A named storage is its backend behind a circuit."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from strongroom.content.storage.stores import FAILURES_TO_OPEN, Store, Stores, UnknownStorage
from strongroom.plugin_api.storage import ByteStream, ObjectNotFound, StorageUnavailable
from strongroom.testing.clock import ManualClock
from strongroom.testing.storage import StorageBackendContract, new_key
from strongroom_storage_local.backend import LocalBackend
from strongroom_storage_local.options import LocalOptions


class Breaking(LocalBackend):
    """Breaks off each stream after a number of chunks."""

    chunks = 0

    def open(self, key: str, *, start: int = 0, length: int | None = None) -> ByteStream:
        @contextmanager
        def stream() -> Iterator[Iterator[bytes]]:
            yield self._break_off()

        return stream()

    def _break_off(self) -> Iterator[bytes]:
        for _ in range(self.chunks):
            yield b"x"
        raise StorageUnavailable("broke off")


@pytest.fixture
def backend(tmp_path: Path) -> Breaking:
    return Breaking(LocalOptions(root=tmp_path))


class TestStore(StorageBackendContract):
    """A backend behind a circuit has all of its methods."""

    @pytest.fixture
    def backend(self, tmp_path: Path) -> Store:
        store = Store("main", LocalBackend(LocalOptions(root=tmp_path)), ManualClock())
        store.close = store.backend.close  # type: ignore[attr-defined]
        return store


def test_an_error_before_the_first_bytes_is_raised_on_entering(backend: Breaking) -> None:
    store = Store("main", backend, ManualClock())
    with pytest.raises(StorageUnavailable), store.open(new_key()):
        pytest.fail("it was entered")


def test_streams_that_break_off_open_the_circuit(backend: Breaking) -> None:
    store = Store("main", backend, ManualClock())
    backend.chunks = 1
    # Each began well, and that it began was known first.
    with pytest.raises(StorageUnavailable, match="broke"), store.open(new_key()) as chunks:
        list(chunks)
    backend.chunks = 0
    for _ in range(FAILURES_TO_OPEN - 1):
        with pytest.raises(StorageUnavailable, match="broke"), store.open(new_key()):
            pass
    with pytest.raises(StorageUnavailable, match="is retried in a few seconds"):
        store.put(new_key(), io.BytesIO(b"x"))


def test_a_storage_that_is_not_configured_is_named(backend: Breaking) -> None:
    stores = Stores({"main": backend}, ManualClock())
    with pytest.raises(UnknownStorage, match="there is no"):
        stores["old"]


def test_each_storage_has_a_circuit_of_its_own(tmp_path: Path) -> None:
    stores = Stores(
        {name: Breaking(LocalOptions(root=tmp_path / name)) for name in ("a", "b")}, ManualClock()
    )
    for _ in range(FAILURES_TO_OPEN):
        with pytest.raises(StorageUnavailable), stores["a"].open(new_key()):
            pass
    with pytest.raises(StorageUnavailable):
        stores["a"].stat(new_key())
    with pytest.raises(ObjectNotFound):
        stores["b"].stat(new_key())
