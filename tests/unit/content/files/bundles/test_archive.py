"""Archives, read whole and in parts, small and larger than four gibibytes."""

import io
import subprocess
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from strongroom.content.storage.models import BlobLocation
from strongroom.extensions.bundles.archive import Archive
from strongroom.extensions.bundles.manifest import BundleManifest, Item
from strongroom.extensions.bundles.zip_format import (
    Entry,
    central_header,
    central_length,
    local_header,
    local_length,
)
from strongroom.foundation.errors import PayloadTooLarge
from strongroom.plugin_api.storage import StorageError

GIBIBYTE = 1024**3
ZEROS = bytes(256 * 1024)


class Store:
    """Contents by key; a number stands for so many zeros."""

    def __init__(self, *, near: bool = True) -> None:
        self._near = near
        self.contents: dict[str, bytes | int] = {}
        self.manifest = BundleManifest()

    def add(self, path: str, content: bytes | int, modified: int = 1_700_000_001) -> None:
        key = str(len(self.contents))
        self.contents[key] = content
        size = content if isinstance(content, int) else len(content)
        crc = crc_of_zeros(content) if isinstance(content, int) else zlib.crc32(content)
        self.manifest.add(Item(Entry(path.encode(), size, crc, modified), key))

    def folder(self, path: str) -> None:
        self.manifest.add(Item(Entry(f"{path}/".encode(), 0, 0, 0), ""))

    @contextmanager
    def open(
        self, key: str, start: int, length: int, *, place: BlobLocation | None = None
    ) -> Iterator[Iterator[bytes]]:
        assert place == BlobLocation("main", key)
        content = self.contents[key]
        yield zeros(length) if isinstance(content, int) else iter([content[start : start + length]])

    def is_local(self, place: BlobLocation) -> bool:
        return self._near

    def locations(self, keys: Sequence[str]) -> dict[str, BlobLocation]:
        return {key: BlobLocation("main", key) for key in keys}

    @property
    def archive(self) -> Archive:
        return Archive(self.manifest, self)

    def read(self, start: int = 0, stop: int | None = None) -> bytes:
        stop = self.manifest.size if stop is None else stop
        with self.archive.open(start, stop - start) as chunks:
            return b"".join(chunks)


def zeros(length: int) -> Iterator[bytes]:
    while length > 0:
        piece = ZEROS[: min(length, len(ZEROS))]
        length -= len(piece)
        yield piece


def crc_of_zeros(length: int) -> int:
    crc = 0
    for piece in zeros(length):
        crc = zlib.crc32(piece, crc)
    return crc


class Seekable(io.RawIOBase):
    """An archive as a file; each read is a request for a range."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = 0) -> int:
        base = (0, self._position, self._store.manifest.size)[whence]
        self._position = base + offset
        return self._position

    def read(self, size: int = -1) -> bytes:
        end = self._store.manifest.size
        stop = end if size < 0 else min(end, self._position + size)
        content = self._store.read(self._position, stop) if stop > self._position else b""
        self._position += len(content)
        return content


@pytest.fixture(params=[True, False], ids=["near", "elsewhere"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    store = Store(near=request.param)
    yield store
    store.manifest.close()


def test_an_archive_is_what_python_and_unzip_take_for_one(store: Store, tmp_path: Path) -> None:
    store.add("a.txt", b"hello")
    store.folder("文件夹")
    store.add("文件夹/ünï.txt", b"x" * 300_000)
    store.add("empty", b"")
    path = tmp_path / "bundle.zip"
    path.write_bytes(store.read())
    assert path.stat().st_size == store.manifest.size
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["a.txt", "文件夹/", "文件夹/ünï.txt", "empty"]
        assert archive.read("文件夹/ünï.txt") == b"x" * 300_000
        assert archive.getinfo("a.txt").date_time == (2023, 11, 14, 22, 13, 20)
        assert archive.getinfo("文件夹/").is_dir()
    assert subprocess.run(["unzip", "-tq", path], check=False, capture_output=True).returncode == 0


def test_an_archive_of_nothing_is_one(store: Store) -> None:
    with zipfile.ZipFile(io.BytesIO(store.read())) as archive:
        assert archive.namelist() == []


@settings(deadline=None)
@given(st.data(), st.booleans())
def test_any_range_is_that_of_the_whole(data: st.DataObject, near: bool) -> None:
    store = Store(near=near)
    with closing(store.manifest):
        for number, content in enumerate(data.draw(st.lists(st.binary(max_size=50), max_size=5))):
            store.add(f"{number}", content)
        whole = store.read()
        start = data.draw(st.integers(0, len(whole)))
        stop = data.draw(st.integers(start, len(whole)))
        assert store.read(start, stop) == whole[start:stop]


def test_a_file_and_an_offset_above_four_gibibytes(store: Store) -> None:
    store.add("small", b"before")
    store.add("large", 5 * GIBIBYTE)
    store.add("after", b"behind the border")
    assert store.manifest.size > 5 * GIBIBYTE
    with zipfile.ZipFile(Seekable(store)) as archive:
        assert [item.file_size for item in archive.infolist()] == [6, 5 * GIBIBYTE, 17]
        assert crc_of_zeros(5 * GIBIBYTE) == archive.getinfo("large").CRC
        assert archive.read("after") == b"behind the border"
        assert archive.read("small") == b"before"


@pytest.mark.parametrize("count", [65_534, 65_535, 65_536])
def test_more_entries_than_sixteen_bits_count(store: Store, count: int) -> None:
    for number in range(count):
        store.add(f"{number}", b"")
    with zipfile.ZipFile(io.BytesIO(store.read())) as archive:
        assert len(archive.infolist()) == count


sizes = st.sampled_from([0, 1, 2**32 - 2, 2**32 - 1, 2**32, 2**40])
entries = st.builds(
    Entry, st.binary(max_size=30), sizes, st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1)
)


@given(entries, sizes)
def test_the_lengths_of_headers_are_known_before_they_are_made(entry: Entry, offset: int) -> None:
    assert local_length(entry) == len(local_header(entry))
    assert central_length(entry, offset) == len(central_header(entry, offset))


def test_the_tag_is_another_when_anything_is() -> None:
    def tag(path: str, content: bytes, modified: int = 1) -> str:
        store = Store()
        store.add(path, content, modified)
        store.manifest.close()
        return store.manifest.tag

    assert tag("a", b"x") == tag("a", b"x")
    assert len({tag("a", b"x"), tag("b", b"x"), tag("a", b"y"), tag("a", b"x", 2)}) == 4


def test_content_that_is_shorter_than_it_was_breaks_the_archive_off(store: Store) -> None:
    store.add("a", b"hello")
    store.contents["0"] = b"hell"
    with pytest.raises(StorageError):
        store.read()


def test_a_path_too_long_for_an_archive_is_refused(store: Store) -> None:
    with pytest.raises(PayloadTooLarge):
        store.add("a" * 65_536, b"")
