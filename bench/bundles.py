"""A bundle of many files, compared with `zip -0` of the same files into a pipe."""

import json
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.client import Client
from bench.forms import raw_headers
from bench.harness import MEBIBYTE, Limit, Plan, Row, interleave
from bench.servers import Server, strongroom
from bench.usage import forget_peak, peak_bytes, resident_bytes

FILE_BYTES: Final = 100 * 1024
LIMIT: Final = "zip -0 through a pipe"

_RECEIVE_BYTES: Final = 256 * 1024

Sample = tuple[float, float]
"""Mebibytes a second, and by how many mebibytes the server's memory rose at most."""


def measure(plan: Plan) -> list[Row]:
    """Measure the speed and the memory of a bundle; without `zip`, there is no reference."""
    with TemporaryDirectory() as folder, strongroom(Path(folder)) as server:
        files = Path(folder) / "bundled"
        bundle = bundle_of_new_files(server, files, plan.bundled)
        contenders: list[Callable[[], Sample]] = [bundle]
        if program := shutil.which("zip"):
            contenders.append(lambda: _zip(program, files))
        bundles, *zips = interleave(plan.rounds, *contenders)
    name = f"bundle, {plan.bundled:,} x {FILE_BYTES // 1024} KiB"
    limit = Limit(LIMIT, [speed for speed, _ in zips[0]]) if zips else None
    return [
        Row(name, "MiB/s", [speed for speed, _ in bundles], limit),
        Row(f"{name}: memory over idle", "MiB", [risen for _, risen in bundles], is_cost=True),
    ]


def bundle_of_new_files(server: Server, folder: Path, count: int) -> Callable[[], Sample]:
    """Make the files, here and at the server, and return what downloads them as one."""
    client = Client(server)
    folders = client.files.removesuffix("files") + "folders"
    node = client.post(folders, {"name": "bundled"})["id"]
    folder.mkdir()
    for number in range(count):
        content = os.urandom(FILE_BYTES)
        (folder / f"{number}.bin").write_bytes(content)
        client.upload(f"{client.files}/{node}/files", raw_headers(f"{number}.bin"), content)
    path = client.files.removesuffix("files") + "multi-files-download"
    body, idle = json.dumps({"fileIds": [node]}).encode(), resident_bytes(server.pid)

    def download() -> Sample:
        forget_peak(server.pid)
        started = time.perf_counter()
        received = client.receive("POST", path, {"Content-Type": "application/json"}, body)
        seconds = time.perf_counter() - started
        risen = peak_bytes(server.pid) - idle
        return received / MEBIBYTE / seconds, risen / MEBIBYTE

    return download


def _zip(program: str, folder: Path) -> Sample:
    command = [program, "-0", "-q", "-r", "-", folder.name]
    received, buffer, started = 0, bytearray(_RECEIVE_BYTES), time.perf_counter()
    reading, writing = os.pipe()
    with subprocess.Popen(command, cwd=folder.parent, stdout=writing) as process:  # noqa: S603  of this machine
        os.close(writing)
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while count := pipe.readinto(buffer):
                received += count
    if process.returncode:
        raise RuntimeError(f"zip has ended with {process.returncode}")
    return received / MEBIBYTE / (time.perf_counter() - started), 0
