"""The backend with a store that fails: a real one behind a proxy that interferes."""

import io
import socket
import threading
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from hashlib import md5, sha256
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest
from werkzeug.serving import make_server

from strongroom.plugin_api.storage import (
    ObjectNotFound,
    StorageError,
    StorageFull,
    StorageUnavailable,
)
from strongroom.testing.storage import MEBIBYTE, PatternSource, SourceBroke, new_key, read_all
from strongroom_storage_s3.backend import S3Backend
from strongroom_storage_s3.upload import digest_header

LEAST_PART = 5 * MEBIBYTE

Environ = dict[str, Any]
Answer = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]


class FaultyProxy:
    """Passes requests on to the store, but for those that a test answers itself."""

    def __init__(self, endpoint_url: str) -> None:
        self._store = urlsplit(endpoint_url).netloc
        self._faults: list[tuple[Callable[[Environ], bool], Answer]] = []

    def fail(self, answer: Answer, *, when: Callable[[Environ], bool] = lambda _: True) -> None:
        """Give ``answer`` to the requests that ``when`` picks."""
        self._faults.append((when, answer))

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        answers = [answer for when, answer in self._faults if when(environ)]
        return (answers or [self.forward])[0](environ, start_response)

    def forward(self, environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        names = [name for name in environ if name.startswith(("HTTP_", "CONTENT_"))]
        headers = {name.removeprefix("HTTP_").replace("_", "-"): environ[name] for name in names}
        store = HTTPConnection(self._store, timeout=10)
        store.request(environ["REQUEST_METHOD"], environ["RAW_URI"], body_of(environ), headers)
        answer = store.getresponse()
        content = answer.read()
        store.close()
        start_response(f"{answer.status} {answer.reason}", answer.getheaders())
        return [content]


def body_of(environ: Environ) -> bytes:
    content: bytes = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    return content


def operation_is(method: str, query: str = "") -> Callable[[Environ], bool]:
    return lambda environ: environ["REQUEST_METHOD"] == method and query in environ["QUERY_STRING"]


def refusal(status: int, code: str, **headers: str) -> Answer:
    def answer(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        body_of(environ)
        start_response(f"{status} {code}", list(headers.items()))
        body = f"<Error><Code>{code}</Code><Message>as the test says</Message></Error>"
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body.encode()]

    return answer


@pytest.fixture
def proxy(endpoint_url: str) -> FaultyProxy:
    return FaultyProxy(endpoint_url)


@pytest.fixture
def proxy_url(proxy: FaultyProxy) -> Iterator[str]:
    server = make_server("127.0.0.1", 0, proxy, threaded=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def behind_the_proxy(proxy_url: str, make_backend: Callable[..., S3Backend]) -> Callable[..., S3Backend]:
    def make(**changes: Any) -> S3Backend:
        return make_backend(endpoint_url=proxy_url, part_bytes=LEAST_PART, **changes)

    return make


@pytest.fixture
def backend(behind_the_proxy: Callable[..., S3Backend]) -> S3Backend:
    return behind_the_proxy(max_attempts=1)


@pytest.fixture
def unfinished_uploads(owner: Any, backend: S3Backend) -> Callable[[], list[Any]]:
    def unfinished() -> list[Any]:
        uploads = owner.list_multipart_uploads(Bucket=backend.options.bucket).get("Uploads", [])
        return list(uploads)

    return unfinished


OPERATIONS: dict[str, Callable[[S3Backend], object]] = {
    "put": lambda backend: backend.put(new_key(), io.BytesIO(b"x")),
    "put in parts": lambda backend: backend.put(new_key(), PatternSource(LEAST_PART + 1)),
    "read": lambda backend: read_all(backend, new_key()),
    "stat": lambda backend: backend.stat(new_key()),
    "delete": lambda backend: backend.delete(new_key()),
    "scan": lambda backend: list(backend.scan()),
    "copy": lambda backend: backend.copy(new_key(), new_key()),
}


@pytest.fixture(params=OPERATIONS)
def operation(request: pytest.FixtureRequest) -> Callable[[S3Backend], object]:
    return OPERATIONS[request.param]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (refusal(403, "AccessDenied"), StorageError),
        (refusal(429, "TooManyRequests"), StorageUnavailable),
        (refusal(500, "InternalError"), StorageUnavailable),
        (refusal(503, "SlowDown"), StorageUnavailable),
        (refusal(507, "XMinioStorageFull"), StorageFull),
    ],
    ids=["403", "429", "500", "503", "507"],
)
def test_a_refusal_becomes_the_error_of_its_kind(
    proxy: FaultyProxy,
    backend: S3Backend,
    operation: Callable[[S3Backend], object],
    answer: Answer,
    expected: type[StorageError],
) -> None:
    proxy.fail(answer)
    with pytest.raises(StorageError) as caught:
        operation(backend)
    assert type(caught.value) is expected


def test_a_quota_that_is_used_up_is_storage_full(proxy: FaultyProxy, backend: S3Backend) -> None:
    proxy.fail(refusal(403, "QuotaExceeded"), when=operation_is("PUT"))
    with pytest.raises(StorageFull):
        backend.put(new_key(), io.BytesIO(b"x"))


def test_a_missing_bucket_is_not_a_missing_object(owner: Any, backend: S3Backend) -> None:
    owner.delete_bucket(Bucket=backend.options.bucket)
    for name in ("read", "delete", "scan"):
        with pytest.raises(StorageError, match="NoSuchBucket") as caught:
            OPERATIONS[name](backend)
        assert not isinstance(caught.value, ObjectNotFound)


def test_the_store_says_when_to_come_again(proxy: FaultyProxy, backend: S3Backend) -> None:
    proxy.fail(refusal(503, "SlowDown", **{"Retry-After": "17"}))
    with pytest.raises(StorageUnavailable) as caught:
        backend.stat(new_key())
    assert caught.value.retry_after == 17


def test_a_closed_port_is_unavailable(
    make_backend: Callable[..., S3Backend], operation: Callable[[S3Backend], object]
) -> None:
    # Bound, so that no other process takes it meanwhile.
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        with pytest.raises(StorageUnavailable):
            operation(make_backend(endpoint_url=url, max_attempts=1))


def test_a_silent_store_is_unavailable_after_the_read_timeout(
    proxy: FaultyProxy,
    behind_the_proxy: Callable[..., S3Backend],
    operation: Callable[[S3Backend], object],
) -> None:
    patience_is_over = threading.Event()

    def silent(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        patience_is_over.wait(timeout=30)
        return refusal(500, "TooLate")(environ, start_response)

    proxy.fail(silent)
    with pytest.raises(StorageUnavailable, match="timeout"):
        operation(behind_the_proxy(max_attempts=1, read_timeout=0.1))
    patience_is_over.set()


def test_attempts_are_bounded(proxy: FaultyProxy, behind_the_proxy: Callable[..., S3Backend]) -> None:
    backend = behind_the_proxy(max_attempts=2)
    requested: Counter[str] = Counter()

    def failing(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        requested[environ["REQUEST_METHOD"]] += 1
        return refusal(500, "InternalError")(environ, start_response)

    proxy.fail(failing)
    with pytest.raises(StorageUnavailable):
        backend.stat(new_key())
    assert requested == {"HEAD": 2}


def test_a_failure_that_passes_is_not_noticed(
    proxy: FaultyProxy, behind_the_proxy: Callable[..., S3Backend]
) -> None:
    backend, key = behind_the_proxy(max_attempts=2), new_key()
    failures = iter([True])
    proxy.fail(refusal(503, "SlowDown"), when=lambda _: next(failures, False))
    assert backend.put(key, io.BytesIO(b"at the second attempt")) == 21
    assert read_all(backend, key) == b"at the second attempt"


def test_a_part_that_fails_leaves_no_unfinished_upload(
    proxy: FaultyProxy, backend: S3Backend, unfinished_uploads: Callable[[], list[Any]]
) -> None:
    proxy.fail(refusal(500, "InternalError"), when=operation_is("PUT", "partNumber=2"))
    with pytest.raises(StorageUnavailable):
        backend.put(new_key(), PatternSource(4 * LEAST_PART))
    assert unfinished_uploads() == []


def test_an_upload_is_aborted_after_its_last_part_has_arrived(
    proxy: FaultyProxy, backend: S3Backend
) -> None:
    part_is_on_its_way, source_is_broken = threading.Event(), threading.Event()
    finished: list[str] = []

    class BreakingMeanwhile(PatternSource):
        def read(self, size: int, /) -> bytes:
            chunk = super().read(size)
            if not chunk:
                part_is_on_its_way.wait(timeout=30)
                source_is_broken.set()
                raise SourceBroke
            return chunk

    def held(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        part_is_on_its_way.set()
        source_is_broken.wait(timeout=30)
        answer = proxy.forward(environ, start_response)
        finished.append("part")
        return answer

    def aborted(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        finished.append("abort")
        return proxy.forward(environ, start_response)

    proxy.fail(held, when=operation_is("PUT", "partNumber"))
    proxy.fail(aborted, when=operation_is("DELETE"))
    with pytest.raises(SourceBroke):
        backend.put(new_key(), BreakingMeanwhile(LEAST_PART + 1))
    assert finished == ["part", "abort"]


def test_an_error_in_an_answer_that_began_well_is_an_error(
    proxy: FaultyProxy, backend: S3Backend, unfinished_uploads: Callable[[], list[Any]]
) -> None:
    proxy.fail(refusal(200, "InternalError"), when=operation_is("POST", "uploadId="))
    key = new_key()
    with pytest.raises(StorageUnavailable):
        backend.put(key, PatternSource(LEAST_PART + 1))
    assert unfinished_uploads() == []


def test_an_abort_that_fails_does_not_hide_why(proxy: FaultyProxy, backend: S3Backend) -> None:
    proxy.fail(refusal(507, "InsufficientStorage"), when=operation_is("PUT"))
    proxy.fail(refusal(500, "InternalError"), when=operation_is("DELETE"))
    with pytest.raises(StorageFull):
        backend.put(new_key(), PatternSource(LEAST_PART + 1))


@pytest.mark.parametrize(("size", "last_request"), [(1, "PUT"), (LEAST_PART + 1, "POST")])
def test_an_object_whose_confirmation_was_lost_does_not_stay(
    proxy: FaultyProxy, backend: S3Backend, size: int, last_request: str
) -> None:
    def stored_in_silence(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        list(proxy.forward(environ, lambda *_: None))
        environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)
        raise ConnectionResetError

    when = operation_is("PUT") if last_request == "PUT" else operation_is("POST", "uploadId=")
    proxy.fail(stored_in_silence, when=when)
    key = new_key()
    with pytest.raises(StorageUnavailable):
        backend.put(key, PatternSource(size))
    with pytest.raises(ObjectNotFound):
        backend.stat(key)


@pytest.mark.parametrize("size", [10, LEAST_PART + 1])
def test_the_store_detects_bytes_that_were_damaged_in_transit(
    proxy: FaultyProxy, backend: S3Backend, size: int
) -> None:
    digests: list[tuple[str, str]] = []

    def comparing(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        content = body_of(environ)
        digests.append((environ["HTTP_X_AMZ_CONTENT_SHA256"], sha256(content).hexdigest()))
        return proxy.forward({**environ, "wsgi.input": io.BytesIO(content)}, start_response)

    proxy.fail(comparing, when=operation_is("PUT"))
    backend.put(new_key(), PatternSource(size))
    assert [sent for sent, _ in digests] == [computed for _, computed in digests]
    assert len(digests) == 1 + size // LEAST_PART


def test_under_tls_a_digest_of_its_own_goes_with_the_bytes() -> None:
    body = bytearray(b"content")
    assert digest_header("http://127.0.0.1:9000", body) == {}
    assert digest_header("https://s3.example.com", body) == {
        "ContentMD5": b64encode(md5(body).digest()).decode()
    }


def test_checksums_that_only_aws_knows_are_not_spoken_of(proxy: FaultyProxy, backend: S3Backend) -> None:
    spoken: set[str] = set()

    def listening(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        spoken.update(environ)
        return proxy.forward(environ, start_response)

    proxy.fail(listening)
    key = new_key()
    backend.put(new_key(), io.BytesIO(b"x"))
    backend.put(key, PatternSource(LEAST_PART + 1))
    assert len(read_all(backend, key)) == LEAST_PART + 1
    assert "HTTP_X_AMZ_DATE" in spoken
    assert [name for name in spoken if "CHECKSUM" in name or "TRAILER" in name] == []


def test_a_download_that_ends_early_is_unavailable(proxy: FaultyProxy, backend: S3Backend) -> None:
    def truncated(environ: Environ, start_response: Callable[..., Any]) -> Iterable[bytes]:
        start_response("200 OK", [("Content-Length", "1000")])
        return [b"x" * 10]

    proxy.fail(truncated, when=operation_is("GET"))
    with pytest.raises(StorageUnavailable):
        read_all(backend, new_key())


def test_large_objects_are_copied_in_parts(
    proxy: FaultyProxy, backend: S3Backend, requests_sent: Counter[str]
) -> None:
    source, target = new_key(), new_key()
    backend.put(source, io.BytesIO(b"more than five gibibytes, says the store"))
    requests_sent.clear()
    proxy.fail(
        refusal(400, "InvalidRequest"),
        when=lambda environ: "HTTP_X_AMZ_COPY_SOURCE" in environ and not environ["QUERY_STRING"],
    )
    backend.copy(source, target)
    assert read_all(backend, target) == b"more than five gibibytes, says the store"
    assert requests_sent["UploadPartCopy"] == 1
