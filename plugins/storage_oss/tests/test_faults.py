"""Failures in the middle of a transfer differ from refusals of the store."""

import io
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest

from strongroom.plugin_api.storage import ObjectNotFound, StorageError, StorageUnavailable
from strongroom.testing.storage import new_key, read_all
from strongroom_simulators.oss import OssSimulator
from strongroom_storage_oss.backend import OssBackend

MakeBackend = Callable[..., OssBackend]


class Handler(BaseHTTPRequestHandler):
    """Reads a request, and leaves the answer to subclasses."""

    def answer(self, body: bytes) -> None:
        raise NotImplementedError

    def _serve(self) -> None:
        self.close_connection = True
        self.answer(self.rfile.read(int(self.headers.get("Content-Length", "0"))))

    do_GET = do_PUT = do_HEAD = do_DELETE = _serve  # noqa: N815  http.server looks for these

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        return


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


class CannedStore:
    """A store that answers everything with the same bytes."""

    def __init__(self, stack: ExitStack) -> None:
        self.stack = stack
        self.requests: list[str] = []

    def start(self, canned: bytes) -> str:
        requests = self.requests

        class Canned(Handler):
            def answer(self, body: bytes) -> None:
                requests.append(self.command)
                self.wfile.write(canned)

        return self.stack.enter_context(serving(Canned))


@pytest.fixture
def store() -> Iterator[CannedStore]:
    with ExitStack() as stack:
        yield CannedStore(stack)


@pytest.mark.parametrize("status", ["500 Internal Server Error", "503 Unavailable", "429 Too Many"])
def test_a_store_in_trouble_is_unavailable(
    make_backend: MakeBackend, store: CannedStore, status: str
) -> None:
    answer = f"HTTP/1.1 {status}\r\nContent-Length: 10\r\n\r\n<html>oops"
    backend = make_backend(endpoint=store.start(answer.encode()))
    with pytest.raises(StorageUnavailable):
        backend.put(new_key(), io.BytesIO(b"x"))


def test_a_store_that_says_when_to_come_back_is_believed(
    make_backend: MakeBackend, store: CannedStore
) -> None:
    answer = b"HTTP/1.1 503 Busy\r\nRetry-After: 17\r\nContent-Length: 0\r\n\r\n"
    with pytest.raises(StorageUnavailable) as caught:
        make_backend(endpoint=store.start(answer)).stat(new_key())
    assert caught.value.retry_after == 17


def test_transient_errors_are_retried(make_backend: MakeBackend, store: CannedStore) -> None:
    answer = b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    with pytest.raises(StorageUnavailable):
        make_backend(endpoint=store.start(answer), retries=1).stat(new_key())
    assert store.requests == ["HEAD", "HEAD"]


@pytest.mark.parametrize("answer", [b"", b"no HTTP at all\r\n\r\n"])
def test_an_answer_that_is_none_is_unavailable(
    make_backend: MakeBackend, store: CannedStore, answer: bytes
) -> None:
    with pytest.raises(StorageUnavailable):
        make_backend(endpoint=store.start(answer)).delete(new_key())


def test_a_body_that_ends_early_is_not_taken_for_the_object(
    make_backend: MakeBackend, store: CannedStore
) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"
    with pytest.raises(StorageUnavailable):
        read_all(make_backend(endpoint=store.start(answer)), new_key())


def test_a_store_that_ignores_ranges_is_not_believed(
    make_backend: MakeBackend, store: CannedStore
) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789"
    with pytest.raises(StorageError, match="ignored"):
        read_all(make_backend(endpoint=store.start(answer)), new_key(), start=3, length=2)


def test_bytes_that_arrived_otherwise_than_sent_are_not_kept(
    make_backend: MakeBackend, store: CannedStore
) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nx-oss-hash-crc64ecma: 1\r\n\r\n"
    with pytest.raises(StorageError, match="crc"):
        make_backend(endpoint=store.start(answer)).put(new_key(), io.BytesIO(b"x"))
    assert store.requests == ["PUT", "DELETE"]


def test_an_upload_whose_answer_is_lost_leaves_nothing(
    make_backend: MakeBackend, backend: OssBackend, simulator: OssSimulator
) -> None:
    netloc, key = urlsplit(simulator.endpoint).netloc, new_key()

    class Lossy(Handler):
        """Passes everything on, and loses the answers to uploads."""

        def answer(self, body: bytes) -> None:
            connection = HTTPConnection(netloc, timeout=10)
            connection.request(self.command, self.path, body, dict(self.headers))
            response = connection.getresponse()
            if self.command != "PUT":
                self.wfile.write(f"HTTP/1.1 {response.status} \r\nContent-Length: 0\r\n\r\n".encode())
            connection.close()

    with serving(Lossy) as endpoint, pytest.raises(StorageUnavailable):
        make_backend(endpoint=endpoint).put(key, io.BytesIO(b"x"))
    assert simulator.requests.operations() == {"PutObject": 1, "DeleteObject": 1}
    with pytest.raises(ObjectNotFound):
        backend.stat(key)
