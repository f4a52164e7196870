"""Object stores for tests, real servers each, and the configuration that leads to them."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import boto3  # type: ignore[import-untyped]  # it has no types

from strongroom.content.storage.ownership import is_reserved
from strongroom_simulators.oss import OssSimulator
from tests.support.config import Table

S3_SERVER = Path(__file__).parents[2] / "plugins/storage_s3/tests/s3_server.py"
BUCKET = "files"


def stored_files(folder: Path) -> list[Path]:
    """Return the files of blobs in the folder of a local storage, without the owner marker."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return [path for path in files if not is_reserved(path.relative_to(folder).as_posix())]


@dataclass(frozen=True)
class ObjectStore:
    """A store that runs.

    Args:
        backend: the backend for it.
        endpoint: its URL.
    """

    backend: str
    endpoint: str

    def options(self, endpoint: str | None = None) -> Table:
        """Return the options of a storage in this store; the endpoint may be a proxy's."""
        return {"backend": self.backend, **_OPTIONS[self.backend](endpoint or self.endpoint)}


def _s3_options(url: str) -> Table:
    return {
        "bucket": BUCKET,
        "endpoint_url": url,
        "addressing_style": "path",
        "access_key_id": "key",
        "secret_access_key": "secret",
        "region": "us-east-1",
    }


def _oss_options(url: str) -> Table:
    return {
        "bucket": BUCKET,
        "region": "cn-hangzhou",
        "endpoint": url,
        "access_key_id": "simulator",
        "access_key_secret": "simulator-secret",
    }


_OPTIONS = {"s3": _s3_options, "oss": _oss_options}


@contextmanager
def s3_store() -> Iterator[ObjectStore]:
    """Run an S3 server, in a process of its own, that has a bucket."""
    with subprocess.Popen(
        [sys.executable, S3_SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdout is not None
        store = ObjectStore("s3", f"http://127.0.0.1:{int(server.stdout.readline())}")
        with _owner(store) as owner:
            owner.create_bucket(Bucket=BUCKET)
        yield store
        # Its objects are in its memory, so it needs no clean stop.
        server.kill()


@contextmanager
def oss_store() -> Iterator[ObjectStore]:
    """Run the simulator of OSS, with a bucket."""
    with OssSimulator([BUCKET]) as simulator:
        yield ObjectStore("oss", simulator.endpoint)


@contextmanager
def _owner(store: ObjectStore) -> "Iterator[boto3.client]":
    client = boto3.client(
        "s3",
        endpoint_url=store.endpoint,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )
    with ExitStack() as stack:
        stack.callback(client.close)
        yield client
