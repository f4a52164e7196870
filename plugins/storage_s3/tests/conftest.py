"""A real S3 server over HTTP, and a fresh bucket of it for each test."""

import secrets
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import botocore.session  # type: ignore[import-untyped]  # it has no types
import pytest

from strongroom_storage_s3.backend import S3Backend
from strongroom_storage_s3.client import LazyClient
from strongroom_storage_s3.options import S3Options

CREDENTIALS: dict[str, Any] = {
    "access_key_id": "test-key",
    "secret_access_key": "test-secret",
    "region": "eu-central-1",
}


@pytest.fixture(scope="session", autouse=True)
def services_described_once() -> Iterator[None]:
    """Reads botocore's descriptions for all clients: a server makes one, these tests hundreds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(botocore.session, "create_loader", cache(botocore.session.create_loader))
        yield


@pytest.fixture(scope="session")
def endpoint_url() -> Iterator[str]:
    """The URL of the server. Its memory must not count as ours: it has a process of its own."""
    script = Path(__file__).with_name("s3_server.py")
    with subprocess.Popen(
        [sys.executable, script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdout is not None
        yield f"http://127.0.0.1:{int(server.stdout.readline())}"


@pytest.fixture(scope="session")
def owner(endpoint_url: str) -> Iterator[Any]:
    """A client that makes buckets."""
    client = LazyClient(S3Options(bucket="any", **CREDENTIALS), endpoint_url)
    yield client.get()
    client.close()


@pytest.fixture
def options(owner: Any, endpoint_url: str) -> S3Options:
    """The options of a bucket that exists and is empty."""
    bucket = f"files-{secrets.token_hex(8)}"
    region = {"LocationConstraint": CREDENTIALS["region"]}
    owner.create_bucket(Bucket=bucket, CreateBucketConfiguration=region)
    return S3Options(bucket=bucket, endpoint_url=endpoint_url, **CREDENTIALS)


@pytest.fixture
def locking_bucket(owner: Any) -> str:
    """The name of a bucket with Object Lock."""
    bucket = f"locked-{secrets.token_hex(8)}"
    region = {"LocationConstraint": CREDENTIALS["region"]}
    owner.create_bucket(Bucket=bucket, CreateBucketConfiguration=region, ObjectLockEnabledForBucket=True)
    return bucket


@pytest.fixture
def make_backend(options: S3Options) -> Iterator[Callable[..., S3Backend]]:
    """Makes backends on the bucket, with other options where a test wants them."""
    made: list[S3Backend] = []

    def make(**changes: Any) -> S3Backend:
        made.append(S3Backend(replace(options, **changes)))
        return made[-1]

    yield make
    for backend in made:
        backend.close()


@pytest.fixture
def backend(make_backend: Callable[..., S3Backend]) -> S3Backend:
    return make_backend()


@pytest.fixture
def client(backend: S3Backend) -> Any:
    """The client of the backend, to look at the store behind its back."""
    return backend._client.get()


@pytest.fixture
def requests_sent(client: Any) -> Counter[str]:
    """Counts the requests of the backend from now on by operation, retries included."""
    sent: Counter[str] = Counter()

    def count(event_name: str, **_: Any) -> None:
        sent[event_name.rpartition(".")[2]] += 1

    client.meta.events.register("before-send.s3", count)
    return sent
