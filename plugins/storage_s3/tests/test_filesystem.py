"""Behaviour of the PyFilesystem beyond conformance and beyond fs-s3fs."""

import gc
import io
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import IO, Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fs import errors

from strongroom.plugin_api.filesystem import FilesystemBackend
from strongroom.testing.storage import MEBIBYTE, PatternSource, SourceBroke, StorageBackendContract
from strongroom_storage_s3.backend import S3Backend
from strongroom_storage_s3.filesystem import StrongroomS3FS
from strongroom_storage_s3.options import S3Options

LEAST_PART = 5 * MEBIBYTE


@pytest.fixture
def filesystem(options: S3Options) -> Iterator[StrongroomS3FS]:
    filesystem = StrongroomS3FS(replace(options, part_bytes=LEAST_PART))
    yield filesystem
    filesystem.close()


@pytest.fixture
def client(filesystem: StrongroomS3FS) -> Any:
    return filesystem.client


@pytest.fixture
def put_object(owner: Any, options: S3Options) -> Callable[[str, bytes], None]:
    """Stores as other programs do: without markers."""

    def put(key: str, content: bytes) -> None:
        owner.put_object(Bucket=options.bucket, Key=key, Body=content)

    return put


def test_folders_without_markers_are_found(
    filesystem: StrongroomS3FS, put_object: Callable[[str, bytes], None]
) -> None:
    put_object("aa/bb/cc", b"nested")
    assert filesystem.getinfo("aa/bb").is_dir
    assert filesystem.listdir("aa") == ["bb"]
    assert list(filesystem.walk.files()) == ["/aa/bb/cc"]
    assert filesystem.readbytes("aa/bb/cc") == b"nested"
    filesystem.writebytes("aa/bb/dd", b"beside it")
    assert sorted(filesystem.listdir("aa/bb")) == ["cc", "dd"]


def test_a_name_that_begins_alike_is_no_folder(
    filesystem: StrongroomS3FS, put_object: Callable[[str, bytes], None]
) -> None:
    put_object("aabb/cc", b"x")
    assert not filesystem.exists("aa")
    with pytest.raises(errors.ResourceNotFound):
        filesystem.listdir("aa")


@pytest.mark.parametrize("mode", ["w", "wb", "a", "r+", "r+b"])
def test_a_writer_left_by_an_exception_stores_nothing(filesystem: StrongroomS3FS, mode: str) -> None:
    filesystem.writebytes("kept", b"before")

    def write_and_break() -> None:
        with filesystem.open("kept", mode) as file:
            file.write(b"after" if "b" in mode else "after")
            raise SourceBroke

    with pytest.raises(SourceBroke):
        write_and_break()
    assert filesystem.readbytes("kept") == b"before"


def test_reading_only_for_update_stores_nothing(
    filesystem: StrongroomS3FS, requests_sent: Counter[str]
) -> None:
    filesystem.writebytes("kept", b"content")
    requests_sent.clear()
    with filesystem.openbin("kept", "r+") as file:
        assert file.read() == b"content"
    assert "PutObject" not in requests_sent


def test_appending_goes_to_the_end_wherever_the_file_stands(filesystem: StrongroomS3FS) -> None:
    filesystem.writebytes("kept", b"begin")
    with filesystem.openbin("kept", "a") as file:
        file.seek(0)
        file.write(b"-end")
    assert filesystem.readbytes("kept") == b"begin-end"


@pytest.mark.parametrize("mode", ["w", "wb", "a", "r+b"])
def test_a_writer_forgotten_unclosed_stores_nothing(filesystem: StrongroomS3FS, mode: str) -> None:
    filesystem.writebytes("kept", b"before")
    file = filesystem.open("kept", mode)
    file.write(b"after" if "b" in mode else "after")
    del file
    gc.collect()
    assert filesystem.readbytes("kept") == b"before"


def test_a_broken_upload_leaves_no_unfinished_one(filesystem: StrongroomS3FS, client: Any) -> None:
    source: Any = PatternSource(3 * LEAST_PART, breaks=True)
    with pytest.raises(SourceBroke):
        filesystem.upload("large", source)
    assert not filesystem.exists("large")
    assert "Uploads" not in client.list_multipart_uploads(Bucket=filesystem._bucket_name)


def test_a_large_object_is_written_in_parts(
    filesystem: StrongroomS3FS, requests_sent: Counter[str]
) -> None:
    with filesystem.openbin("large", "w") as file:
        for _ in range(11):
            assert file.write(bytes(MEBIBYTE)) == MEBIBYTE
        assert file.tell() == 11 * MEBIBYTE
    assert requests_sent["UploadPart"] == 3
    assert filesystem.getsize("large") == 11 * MEBIBYTE


def test_a_little_of_a_large_object_is_read_by_one_get(
    filesystem: StrongroomS3FS, requests_sent: Counter[str]
) -> None:
    filesystem.writebytes("large", bytes(8 * MEBIBYTE) + b"the end")
    requests_sent.clear()
    with filesystem.openbin("large") as file:
        assert file.seek(-7, io.SEEK_END) == 8 * MEBIBYTE
        assert file.read() == b"the end"
    assert requests_sent == {"HeadObject": 1, "GetObject": 1}


def test_reading_goes_on_wherever_it_is_sent(filesystem: StrongroomS3FS) -> None:
    content = bytes(range(256)) * 4096
    filesystem.writebytes("object", content)
    with filesystem.openbin("object") as file:
        for position in (0, 700_000, 5, len(content), len(content) + 10):
            file.seek(position)
            assert file.read(1000) == content[position : position + 1000]
        with pytest.raises(ValueError, match="negative"):
            file.seek(-1)


def test_a_listing_with_sizes_is_one_request(
    filesystem: StrongroomS3FS,
    put_object: Callable[[str, bytes], None],
    requests_sent: Counter[str],
) -> None:
    for number in range(20):
        put_object(f"aa/{number:02}", bytes(number))
    sizes = [info.size for info in filesystem.scandir("aa", namespaces=["details"])]
    assert sizes == list(range(20))
    assert requests_sent == {"ListObjectsV2": 1}


def test_closing_twice_stores_once(filesystem: StrongroomS3FS, requests_sent: Counter[str]) -> None:
    file: IO[bytes] = filesystem.openbin("object", "w")
    file.write(b"once")
    file.close()
    file.close()
    assert requests_sent["PutObject"] == 1
    with pytest.raises(ValueError, match="closed"):
        file.write(b"more")


def test_urls_are_signed_by_the_fourth_version_for_a_while(filesystem: StrongroomS3FS) -> None:
    signed = parse_qs(urlsplit(filesystem.geturl("object")).query)
    assert signed["X-Amz-Algorithm"] == ["AWS4-HMAC-SHA256"]
    assert signed["X-Amz-Expires"] == ["900"]


def test_below_a_prefix_only_its_objects_are_listed(
    options: S3Options, put_object: Callable[[str, bytes], None]
) -> None:
    put_object("one/aa", b"in")
    put_object("other/bb", b"out")
    with StrongroomS3FS(replace(options, prefix="one")) as filesystem:
        assert filesystem.listdir("/") == ["aa"]
        assert filesystem.getinfo("/").is_dir


@pytest.mark.parametrize(
    "operation",
    [
        lambda filesystem: filesystem.listdir("/"),
        lambda filesystem: filesystem.readbytes("object"),
        lambda filesystem: filesystem.writebytes("object", b"x"),
        lambda filesystem: filesystem.remove("object"),
        lambda filesystem: filesystem.copy("object", "other"),
        lambda filesystem: filesystem.makedir("folder"),
    ],
)
def test_a_dead_store_is_a_connection_error(
    options: S3Options, operation: Callable[[StrongroomS3FS], object]
) -> None:
    dead = replace(options, endpoint_url="http://127.0.0.1:1", max_attempts=1)
    with StrongroomS3FS(dead) as filesystem, pytest.raises(errors.RemoteConnectionError):
        operation(filesystem)


class BackendOverTheFilesystem(FilesystemBackend[S3Options]):
    name = "s3fs"
    options_type = S3Options

    def open_filesystem(self) -> StrongroomS3FS:
        return StrongroomS3FS(self.options)


class TestTheReadyMadeBackendOverTheFilesystem(StorageBackendContract):
    large_size = 64 * MEBIBYTE

    @pytest.fixture
    def backend(self, options: S3Options) -> BackendOverTheFilesystem:
        return BackendOverTheFilesystem(options)


def test_all_files_are_listed_without_a_request_per_folder(
    filesystem: StrongroomS3FS, put_object: Callable[[str, bytes], None], requests_sent: Counter[str]
) -> None:
    keys = [f"{number:02x}/{number:04x}" for number in range(12)]
    for key in keys:
        put_object(key, b"content")
    put_object("folder/", b"")
    put_object("odd//name/../x", b"content")
    requests_sent.clear()
    assert [key for key, _ in filesystem.files()] == [*keys, "odd//name/../x"]
    assert requests_sent == {"ListObjectsV2": 1}
    assert [(key, info.size) for key, info in filesystem.files("0a/00")] == [("0a/000a", 7)]


def test_a_shared_client_stays_open(backend: S3Backend) -> None:
    with StrongroomS3FS(backend.options, client=backend._client) as filesystem:
        assert list(filesystem.files()) == []
    backend.put("aa/aa", io.BytesIO(b"x"))
