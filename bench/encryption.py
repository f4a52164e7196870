"""Transfers of a large file to and from an encrypted storage, compared with the storage below it."""

import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.harness import MEBIBYTE, Limit, Plan, Row, interleave
from bench.servers import ROOT, strongroom
from bench.stores import BUCKET, boto3_client
from bench.transfer import Sample, Transfers
from strongroom.builtin.key_file import create_key_file

S3_SERVER: Final = ROOT / "plugins/storage_s3/tests/s3_server.py"
STORES: Final = ("S3", "folder")
LARGEST: Final = 32 * MEBIBYTE
"""The S3 server has objects in its memory, and copies them several times."""

CONFIG: Final = """
[storages.S3]
backend = "s3"
bucket = "{bucket}"
prefix = "{name}"
region = "us-east-1"
endpoint_url = "{endpoint}"
access_key_id = "key"
secret_access_key = "secret"
[storages.folder]
backend = "local"
root = "{folder}/store"
[storages.encrypted]
backend = "encrypted"
over = "{store}"
[keys]
path = "{folder}/master-keys.json"
[files]
storage = "{target}"
"""


def measure(plan: Plan) -> list[Row]:
    """Measure the speed of uploads and downloads with and without encryption, over each store."""
    with s3_server() as endpoint:
        return [row for store in STORES for row in _rows(plan, store, endpoint)]


@contextmanager
def s3_server() -> Iterator[str]:
    """Run an S3 server that stores what it gets, with a bucket, and yield its URL."""
    with subprocess.Popen(  # noqa: S603  a command of our own
        [sys.executable, S3_SERVER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as server:
        assert server.stdout is not None  # noqa: S101  for the type checker
        endpoint = f"http://127.0.0.1:{int(server.stdout.readline())}"
        client = boto3_client(endpoint)
        client.create_bucket(Bucket=BUCKET)
        client.close()
        yield endpoint
        server.kill()


def _rows(plan: Plan, store: str, endpoint: str) -> list[Row]:
    size = min(plan.transfer_bytes, LARGEST)
    with (
        _transfers(store, store, endpoint, size) as plain,
        _transfers(store, "encrypted", endpoint, size) as encrypted,
    ):
        contenders: Sequence[Callable[[], Sample]] = (
            encrypted.upload_raw,
            plain.upload_raw,
            encrypted.download,
            plain.download,
        )
        speeds = [[speed for speed, _ in taken] for taken in interleave(plan.rounds, *contenders)]
    name = f"{size // MEBIBYTE} MiB, encrypted over {store}"
    return [
        Row(f"upload {name}", "MiB/s", speeds[0], Limit("not encrypted", speeds[1])),
        Row(f"download {name}", "MiB/s", speeds[2], Limit("not encrypted", speeds[3])),
    ]


@contextmanager
def _transfers(store: str, target: str, endpoint: str, size: int) -> Iterator[Transfers]:
    plugins = ("storage_local", "storage_s3", "storage_encrypted")
    with TemporaryDirectory() as name:
        folder = Path(name)
        create_key_file(folder / "master-keys.json")
        values = {"bucket": BUCKET, "name": folder.name, "endpoint": endpoint}
        config = CONFIG.format(folder=folder, store=store, target=target, **values)
        with strongroom(folder, config, plugins=plugins) as server:
            yield Transfers(server, folder, size)
