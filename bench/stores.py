"""``python -m bench.stores``: the cost of the object store backends, compared with plain boto3.

The server counts the requests. Speed is measured against a stub server, so that both sides only wait for
their own work.
"""

import argparse
import io
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench.harness import MEBIBYTE, Limit, Plan, Row, interleave
from bench.report import markdown
from bench.servers import ROOT
from bench.usage import forget_peak, peak_bytes, resident_bytes
from strongroom.clock import SystemClock
from strongroom.content.storage.models import new_key
from strongroom.content.storage.stores import Store
from strongroom.plugin_api.storage import StorageBackend
from strongroom_simulators.oss import OssSimulator
from strongroom_storage_oss.backend import OssBackend
from strongroom_storage_oss.options import OssOptions
from strongroom_storage_s3.backend import S3Backend
from strongroom_storage_s3.options import S3Options

BUCKET: Final = "bench"
CHUNK: Final = 256 * 1024
LARGE: Final = 100 * MEBIBYTE
GIBIBYTE: Final = 1024 * MEBIBYTE

Sample = tuple[float, float]
"""Mebibytes a second, and by how many mebibytes the memory of this process rose at most."""

Drain = Callable[[], int]
"""Returns the number of requests since the previous call."""


def count_requests(backend: StorageBackend[Any], arrived: Drain) -> dict[str, int]:
    """Return how many requests each operation takes."""
    key, large = new_key(), new_key()
    backend.put(large, io.BytesIO(bytes(LARGE)), size=LARGE)
    arrived()
    counts = {}
    operations: dict[str, Callable[[], object]] = {
        "upload 1 MiB": lambda: backend.put(key, io.BytesIO(bytes(MEBIBYTE))),
        "read 1 KiB out of 100 MiB": lambda: _read(backend, large, start=LARGE // 2, length=1024),
        "stat": lambda: backend.stat(key),
        "delete": lambda: backend.delete(key),
    }
    for name, operation in operations.items():
        operation()
        counts[name] = arrived()
    return counts


def measure(plan: Plan) -> list[Row]:
    """Compare the speed and the memory of the S3 backend with those of boto3."""
    with TemporaryDirectory() as folder, stub_s3() as (endpoint, _), s3_backend(endpoint) as backend:
        path = Path(folder) / "content"
        with path.open("wb") as file:
            for _ in range(plan.transfer_bytes // MEBIBYTE):
                file.write(os.urandom(MEBIBYTE))
        sides = _Sides(backend, endpoint, path)
        figures = interleave(
            plan.rounds,
            sides.put,
            sides.upload_fileobj,
            sides.read,
            sides.get_object,
            sides.first_byte,
            sides.first_byte_of_boto3,
        )
    return _rows(figures, f"{plan.transfer_bytes // MEBIBYTE} MiB")


@contextmanager
def stub_s3(wait_milliseconds: int = 0) -> Iterator[tuple[str, Drain]]:
    """Run the stub server; yield its URL and a function that returns the number of requests."""
    command = [sys.executable, "-m", "bench.stub_s3", str(wait_milliseconds)]
    with subprocess.Popen(  # noqa: S603  a command of our own
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as server:
        assert server.stdout is not None  # noqa: S101  for the type checker
        endpoint = f"http://127.0.0.1:{int(server.stdout.readline())}"

        def arrived() -> int:
            with urllib.request.urlopen(f"{endpoint}/requests") as answer:  # noqa: S310  ours
                return len(answer.read().split())

        yield endpoint, arrived


@contextmanager
def s3_backend(endpoint: str) -> Iterator[S3Backend]:
    """The S3 backend as it is by default."""
    options = S3Options(
        bucket=BUCKET,
        region="us-east-1",
        endpoint_url=endpoint,
        access_key_id="key",
        secret_access_key="secret",  # noqa: S106  of a server that does nothing
    )
    backend = S3Backend(options)
    yield backend
    backend.close()


@contextmanager
def oss_backend() -> Iterator[tuple[OssBackend, Drain]]:
    """The OSS backend and the simulator of OSS."""
    with OssSimulator([BUCKET]) as simulator:
        options = OssOptions(
            bucket=BUCKET,
            region=simulator.region,
            access_key_id=simulator.account.access_key_id,
            access_key_secret=simulator.account.access_key_secret,
            endpoint=simulator.endpoint,
        )
        backend, seen = OssBackend(options), Counter[str]()

        def arrived() -> int:
            now: Counter[str] = simulator.requests.operations()
            came = (now - seen).total()
            seen.update(now - seen)
            return came

        yield backend, arrived
        backend.close()


class _Sides:
    """The same work, done by the backend and by boto3 itself."""

    def __init__(self, backend: S3Backend, endpoint: str, path: Path) -> None:
        self._store = Store("bench", backend, SystemClock())
        self._client = boto3_client(endpoint)
        self._path = path
        self._size = path.stat().st_size

    def put(self) -> Sample:
        def send() -> None:
            with self._path.open("rb") as file:
                self._store.put(new_key(), file, size=self._size)

        return self._sample(send)

    def upload_fileobj(self) -> Sample:
        def send() -> None:
            with self._path.open("rb") as file:
                self._client.upload_fileobj(file, BUCKET, new_key())

        return self._sample(send)

    def read(self) -> Sample:
        return self._sample(lambda: self._require(_read(self._store, f"zeros-{self._size}")))

    def get_object(self) -> Sample:
        def receive() -> None:
            body = self._client.get_object(Bucket=BUCKET, Key=f"zeros-{self._size}")["Body"]
            self._require(sum(len(chunk) for chunk in body.iter_chunks(CHUNK)))

        return self._sample(receive)

    def first_byte(self) -> Sample:
        started = time.perf_counter()
        with self._store.open(f"zeros-{GIBIBYTE}") as chunks:
            next(chunks)
            return (time.perf_counter() - started) * 1000, 0.0

    def first_byte_of_boto3(self) -> Sample:
        started = time.perf_counter()
        body = self._client.get_object(Bucket=BUCKET, Key=f"zeros-{GIBIBYTE}")["Body"]
        body.read(1)
        seconds = time.perf_counter() - started
        body.close()
        return seconds * 1000, 0.0

    def _sample(self, transfer: Callable[[], object]) -> Sample:
        before = resident_bytes(os.getpid())
        forget_peak(os.getpid())
        started = time.perf_counter()
        transfer()
        seconds = time.perf_counter() - started
        return self._size / MEBIBYTE / seconds, (peak_bytes(os.getpid()) - before) / MEBIBYTE

    def _require(self, size: int) -> None:
        if size != self._size:
            raise RuntimeError("the download is not whole")


def _read(
    source: StorageBackend[Any] | Store, key: str, *, start: int = 0, length: int | None = None
) -> int:
    with source.open(key, start=start, length=length) as chunks:
        return sum(map(len, chunks))


def boto3_client(endpoint: str) -> Any:
    """Return an S3 client with the default settings."""
    from boto3.session import Session  # type: ignore[import-untyped]  # it has no types

    return Session().client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",  # noqa: S106  as above
    )


def _rows(figures: list[list[Sample]], size: str) -> list[Row]:
    put, upload_fileobj, read, get_object, first_byte, first_byte_of_boto3 = figures
    pairs = (
        (f"upload {size}", put, "boto3 upload_fileobj", upload_fileobj),
        (f"download {size}", read, "boto3 get_object", get_object),
    )
    rows = [
        Row(name, "MiB/s", _column(ours, 0), Limit(other, _column(theirs, 0)))
        for name, ours, other, theirs in pairs
    ]
    rows += [Row(f"{name}: memory", "MiB", _column(ours, 1), is_cost=True) for name, ours, _, _ in pairs]
    limit = Limit("boto3 get_object", _column(first_byte_of_boto3, 0))
    return [*rows, Row("first byte of 1 GiB", "ms", _column(first_byte, 0), limit, is_cost=True)]


def _column(samples: list[Sample], index: int) -> list[float]:
    return [sample[index] for sample in samples]


def main() -> None:
    """Count, measure, and print both."""
    parser = argparse.ArgumentParser("bench.stores", description="Measure the object stores' backends.")
    parser.add_argument("--rounds", type=int, default=Plan().rounds, help="rounds for each side")
    plan = Plan(parser.parse_args().rounds, transfer_bytes=256 * MEBIBYTE)
    with ExitStack() as stack:
        endpoint, s3_arrived = stack.enter_context(stub_s3())
        s3 = stack.enter_context(s3_backend(endpoint))
        oss, oss_arrived = stack.enter_context(oss_backend())
        counts = {"S3": count_requests(s3, s3_arrived), "OSS": count_requests(oss, oss_arrived)}
    print("Requests for one operation:\n")
    for name in counts["S3"]:
        print(f"- {name}: {', '.join(f'{store} {count[name]}' for store, count in counts.items())}")
    print(f"\n{markdown(measure(plan), plan)}", end="")


if __name__ == "__main__":
    main()
