"""Files of the OSS filesystem are streamed, and become objects only when all went well."""

import gc
import io
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from urllib.request import urlopen

import pytest
from fs import errors

from strongroom_simulators.oss import OssSimulator
from strongroom_storage_oss.filesystem import OssFS
from strongroom_storage_oss.options import OssOptions

PART = 100 * 1024


class Interrupted(Exception):
    """What happens in the middle."""


@pytest.fixture
def filesystem(options: OssOptions) -> Iterator[OssFS]:
    made = OssFS(replace(options, part_size=PART))
    yield made
    made.close()


def write(filesystem: OssFS, mode: str, size: int, *, then: type[Exception]) -> None:
    with filesystem.open("file", mode) as file:
        file.write((b"x" if "b" in mode else "x") * size)
        raise then


@pytest.mark.parametrize("size", [10, 3 * PART])
@pytest.mark.parametrize("mode", ["wb", "w+b", "ab", "w", "w+", "a", "x"])
def test_an_exception_stores_nothing(
    filesystem: OssFS, simulator: OssSimulator, mode: str, size: int
) -> None:
    with pytest.raises(Interrupted):
        write(filesystem, mode, size, then=Interrupted)
    assert filesystem.listdir("/") == []
    assert simulator.buckets["files"].uploads() == []


@pytest.mark.parametrize("mode", ["wb", "r+b", "ab", "w", "r+", "a"])
def test_an_exception_leaves_the_old_content(filesystem: OssFS, mode: str) -> None:
    filesystem.writebytes("file", b"before")
    with pytest.raises(Interrupted):
        write(filesystem, mode, 10, then=Interrupted)
    assert filesystem.readbytes("file") == b"before"


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # which is what this test does
@pytest.mark.parametrize("mode", ["wb", "w+b", "w"])
def test_a_file_that_is_forgotten_stores_nothing(
    filesystem: OssFS, simulator: OssSimulator, mode: str
) -> None:
    file = filesystem.open("file", mode)
    file.write("x" * 3 * PART if mode == "w" else b"x" * 3 * PART)
    del file
    gc.collect()
    assert filesystem.listdir("/") == []
    assert simulator.buckets["files"].uploads() == []


def test_an_upload_that_breaks_stores_nothing(filesystem: OssFS, simulator: OssSimulator) -> None:
    class Breaking(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 2 * PART:
                raise Interrupted
            return super().read(size)

    with pytest.raises(Interrupted):
        filesystem.upload("file", Breaking(b"x" * 4 * PART), chunk_size=PART)
    assert filesystem.listdir("/") == []
    assert simulator.buckets["files"].uploads() == []


def test_writing_is_sent_in_parts_meanwhile(filesystem: OssFS, simulator: OssSimulator) -> None:
    with filesystem.openbin("file", "w") as file:
        for _ in range(5):
            file.write(b"x" * PART)
        assert simulator.requests.operations()["UploadPart"] == 4
        assert file.tell() == 5 * PART
    assert filesystem.getsize("file") == 5 * PART


def test_a_file_is_seekable_until_its_beginning_has_left(filesystem: OssFS) -> None:
    with filesystem.openbin("file", "w") as file:
        file.write(b"0123")
        file.seek(1)
        file.write(b"x")
        file.seek(0, io.SEEK_END)
        assert (file.seekable(), file.tell()) == (True, 4)
        file.write(b"y" * PART)
        assert not file.seekable()
        for change in (file.seek, file.truncate):
            with pytest.raises(io.UnsupportedOperation):
                change(0)
    assert filesystem.readbytes("file") == b"0x23" + b"y" * PART


def test_it_cannot_be_sought_beyond_the_first_part(filesystem: OssFS) -> None:
    with filesystem.openbin("file", "w") as file:
        file.write(b"0123")
        with pytest.raises(io.UnsupportedOperation):
            file.seek(PART + 1)
        file.write(b"45")
    assert filesystem.readbytes("file") == b"012345"


def test_before_its_beginning_no_file_can_be_sought(filesystem: OssFS) -> None:
    filesystem.writebytes("file", b"0123")
    with filesystem.openbin("file") as file, pytest.raises(ValueError, match="negative"):
        file.seek(-5, io.SEEK_END)


def test_each_run_of_bytes_is_one_request(filesystem: OssFS, simulator: OssSimulator) -> None:
    content = bytes(range(256)) * 4096
    filesystem.writebytes("file", content)
    with filesystem.openbin("file") as file:
        simulator.requests.clear()
        file.seek(900_000)
        assert file.read(1000) == content[900_000:901_000]
        file.seek(-10, io.SEEK_END)
        assert file.read() == content[-10:]
        assert file.read() == b""
    assert simulator.requests.operations() == {"GetObject": 2}


def test_a_zip_archive_is_read_in_place(filesystem: OssFS) -> None:
    with filesystem.openbin("archive", "w+") as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("inside", b"content")
    with filesystem.openbin("archive") as file, zipfile.ZipFile(file) as archive:
        assert archive.read("inside") == b"content"


def test_reading_only_for_update_stores_nothing(filesystem: OssFS, simulator: OssSimulator) -> None:
    filesystem.writebytes("file", b"content")
    simulator.requests.clear()
    with filesystem.openbin("file", "r+") as file:
        assert file.read() == b"content"
    assert "PutObject" not in simulator.requests.operations()


def test_appending_goes_to_the_end_wherever_the_file_stands(filesystem: OssFS) -> None:
    filesystem.writebytes("file", b"begin")
    with filesystem.openbin("file", "a") as file:
        file.seek(0)
        file.write(b"-end")
    assert filesystem.readbytes("file") == b"begin-end"


def test_implicit_folders_are_listed(filesystem: OssFS) -> None:
    filesystem._client.put("deep/er/file", io.BytesIO(b"x"))
    assert filesystem.listdir("/") == ["deep"]
    assert filesystem.isdir("deep/er")
    assert list(filesystem.walk.files()) == ["/deep/er/file"]


def test_listing_with_details_is_one_request(filesystem: OssFS, simulator: OssSimulator) -> None:
    for number in range(5):
        filesystem._client.put(f"{number}", io.BytesIO(b"x" * number))
    simulator.requests.clear()
    found = list(filesystem.scandir("/", namespaces=["details"]))
    assert [info.size for info in found] == [0, 1, 2, 3, 4]
    assert all(info.modified for info in found)
    assert simulator.requests.operations() == {"ListObjectsV2": 1}


def test_copies_and_moves_stay_within_the_store(filesystem: OssFS, simulator: OssSimulator) -> None:
    filesystem.writebytes("file", b"content")
    simulator.requests.clear()
    filesystem.copy("file", "copy")
    filesystem.move("copy", "moved")
    filesystem.move("moved", "moved", overwrite=True)
    assert simulator.requests.operations()["CopyObject"] == 3
    assert "GetObject" not in simulator.requests.operations()
    assert sorted(filesystem.listdir("/")) == ["file", "moved"]


def test_its_urls_give_the_file(filesystem: OssFS) -> None:
    filesystem.writebytes("ü z", b"content")
    with urlopen(filesystem.geturl("ü z"), timeout=10) as response:
        assert response.read() == b"content"


def test_it_does_not_show_its_secrets(filesystem: OssFS, options: OssOptions) -> None:
    assert options.access_key_secret not in f"{filesystem!r} {filesystem}"


def test_a_store_that_refuses_is_no_missing_file(options: OssOptions) -> None:
    with (
        OssFS(replace(options, access_key_secret="wrong")) as filesystem,
        pytest.raises(errors.OperationFailed, match="SignatureDoesNotMatch"),
    ):
        filesystem.exists("file")


def test_a_store_that_is_not_there_is_a_connection_error(options: OssOptions) -> None:
    with (
        OssFS(replace(options, endpoint="http://127.0.0.1:1")) as filesystem,
        pytest.raises(errors.RemoteConnectionError),
    ):
        filesystem.listdir("/")
