"""Guarantees of the local backend beyond the contract."""

import io
import os
from pathlib import Path

import pytest

from strongroom.plugin_api.storage import StorageError, StorageFull
from strongroom.testing.storage import PatternSource, SourceBroke, new_key
from strongroom_storage_local.backend import INCOMING, LocalBackend
from strongroom_storage_local.options import LocalOptions


@pytest.fixture
def backend(tmp_path: Path) -> LocalBackend:
    return LocalBackend(LocalOptions(root=tmp_path / "files"))


def files_in(backend: LocalBackend) -> list[Path]:
    return [path for path in backend.local_path("").rglob("*") if path.is_file()]


def test_nothing_appears_under_the_key_until_it_is_whole(backend: LocalBackend) -> None:
    key = new_key()

    class Watching(PatternSource):
        def read(self, size: int, /) -> bytes:
            assert not backend.local_path(key).exists()
            return super().read(size)

    backend.put(key, Watching(1_000_000))
    assert backend.local_path(key).stat().st_size == 1_000_000


def test_a_broken_upload_leaves_no_temporary_file(backend: LocalBackend) -> None:
    with pytest.raises(SourceBroke):
        backend.put(new_key(), PatternSource(1_000_000, breaks=True))
    assert files_in(backend) == []


def test_a_partial_file_of_a_crash_is_deleted_with_its_key(backend: LocalBackend) -> None:
    key = new_key()
    half = backend.local_path(key).with_name(f"{INCOMING}{Path(key).name}")
    half.parent.mkdir(parents=True)
    half.write_bytes(b"half")
    assert list(backend.scan()) == []
    backend.delete(key)
    assert files_in(backend) == []


def test_too_little_room_is_storage_full(tmp_path: Path) -> None:
    backend = LocalBackend(LocalOptions(root=tmp_path, reserve_bytes=1 << 62))
    with pytest.raises(StorageFull):
        backend.put(new_key(), io.BytesIO(b"x"))


def test_file_and_folders_are_synced_before_put_returns(
    backend: LocalBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def recording(descriptor: int) -> None:
        synced.append(str(Path(f"/proc/self/fd/{descriptor}").readlink()))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", recording)
    backend.put("ab/cd/abcd", io.BytesIO(b"x"))
    root = str(backend.local_path(""))
    names = [path.removeprefix(root).strip("/") for path in synced]
    # The folder of the root comes first, because the first write creates the root.
    assert names == [synced[0].strip("/"), "", "ab", "ab/cd/abcd", "ab/cd"]
    assert synced[0] == str(Path(root).parent)


def test_a_file_that_cannot_be_synced_is_not_there(
    backend: LocalBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = new_key()
    backend.put(new_key(), io.BytesIO(b"x"))

    def failing(descriptor: int) -> None:
        if Path(f"/proc/self/fd/{descriptor}").readlink().name == Path(key).name:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(os, "fsync", failing)
    with pytest.raises(StorageError):
        backend.put(key, io.BytesIO(b"x"))
    assert len(files_in(backend)) == 1


def test_files_are_the_servers_alone(tmp_path: Path) -> None:
    backend = LocalBackend(LocalOptions(root=tmp_path / "files"))
    backend.put("ab/cd/abcd", io.BytesIO(b"x"))
    folders = (tmp_path / "files", backend.local_path("ab"), backend.local_path("ab/cd"))
    assert [folder.stat().st_mode & 0o077 for folder in folders] == [0, 0, 0]


def test_a_root_that_cannot_be_made_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError):
        LocalBackend(LocalOptions(root=tmp_path / "file" / "below"))
