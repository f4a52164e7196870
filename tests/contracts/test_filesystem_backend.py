"""The built-in PyFilesystem backend fulfils the contract with every kind of filesystem."""

import gc
import io
import socket
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest

from strongroom.builtin.pyfilesystem import PyFilesystemBackend, PyFilesystemOptions
from strongroom.plugin_api import NoOptions
from strongroom.plugin_api.filesystem import FilesystemBackend
from strongroom.plugin_api.storage import StorageBackend, StorageError, StorageUnavailable
from strongroom.testing.storage import StorageBackendContract, new_key

if TYPE_CHECKING:
    from fs.base import FS

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:fs")


class MemoryBackend(FilesystemBackend[NoOptions]):
    """Keeps objects in memory."""

    name = "memory"

    def open_filesystem(self) -> "FS":
        from fs.memoryfs import MemoryFS

        return MemoryFS()


class TestMemory(StorageBackendContract):
    # Its objects are in the memory that the test measures.
    large_size = 8 * 1024 * 1024

    @pytest.fixture
    def backend(self) -> MemoryBackend:
        return MemoryBackend(NoOptions())

    @pytest.mark.xfail(reason="the objects themselves lie in memory", strict=True)
    def test_memory_does_not_grow_with_the_object(self, backend: StorageBackend[Any], key: str) -> None:
        super().test_memory_does_not_grow_with_the_object(backend, key)


class TestMemoryByUrl(TestMemory):
    @pytest.fixture
    def backend(self) -> PyFilesystemBackend:
        return PyFilesystemBackend(PyFilesystemOptions(url="mem://"))


@pytest.fixture(scope="module")
def ftp_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an FTP server."""
    return tmp_path_factory.mktemp("ftp")


@pytest.fixture(scope="module")
def ftp_server(ftp_folder: Path) -> Iterator[str]:
    """The URL of a real FTP server."""
    with warnings.catch_warnings():
        # It stands on asyncore, which Python announces to be going.
        warnings.simplefilter("ignore", DeprecationWarning)
        from pyftpdlib.authorizers import DummyAuthorizer
        from pyftpdlib.handlers import FTPHandler
        from pyftpdlib.servers import ThreadedFTPServer
    authorizer = DummyAuthorizer()
    authorizer.add_user("alice", "secret", str(ftp_folder), perm="elradfmwMT")
    handler = type("Handler", (FTPHandler,), {"authorizer": authorizer, "use_sendfile": False})
    server = ThreadedFTPServer(("127.0.0.1", 0), handler)
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            server.serve_forever(timeout=0.02, blocking=False, handle_exit=False)

    thread = threading.Thread(target=serve)
    thread.start()
    yield f"ftp://alice:secret@127.0.0.1:{server.address[1]}"
    # Closed when no request waits at its sockets any more.
    ended.set()
    thread.join()
    server.close_all()


# PyFilesystem leaves the connection of a transfer that is broken off to be collected.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
class TestFtp(StorageBackendContract):
    @pytest.fixture(autouse=True)
    def collection(self) -> Iterator[None]:
        """Collect the connections here, because elsewhere the warnings about them are errors."""
        yield
        gc.collect()

    @pytest.fixture
    def backend(self, ftp_server: str, ftp_folder: Path) -> PyFilesystemBackend:
        folder = uuid4().hex
        (ftp_folder / folder).mkdir()
        return PyFilesystemBackend(PyFilesystemOptions(url=f"{ftp_server}/{folder}"))


def test_a_url_that_nothing_opens_is_refused_without_its_secrets() -> None:
    with pytest.raises(StorageError, match="gopher") as caught:
        PyFilesystemBackend(PyFilesystemOptions(url="gopher://alice:secret@example.com/"))
    assert "secret" not in str(caught.value)


def test_a_path_is_no_url() -> None:
    with pytest.raises(ValueError, match="must be like"):
        PyFilesystemOptions(url="/srv/files")


def test_a_lost_connection_is_opened_again(ftp_server: str) -> None:
    backend = PyFilesystemBackend(PyFilesystemOptions(url=ftp_server))
    key = new_key()
    backend.put(key, io.BytesIO(b"content"))
    filesystem: Any = backend.filesystem
    connection = filesystem.ftp
    connection.sock.shutdown(socket.SHUT_RDWR)
    with pytest.raises(StorageUnavailable):
        backend.stat(key)
    assert backend.stat(key).size == 7
    connection.close()
    backend.close()


class FolderBackend(FilesystemBackend[NoOptions]):
    """Keeps objects in a folder."""

    name = "folder"
    root: Path

    def open_filesystem(self) -> "FS":
        from fs.osfs import OSFS

        return OSFS(str(self.root))


class TestFolder(StorageBackendContract):
    @pytest.fixture
    def backend(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FolderBackend:
        monkeypatch.setattr(FolderBackend, "root", tmp_path, raising=False)
        return FolderBackend(NoOptions())
