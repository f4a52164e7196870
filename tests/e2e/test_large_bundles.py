"""Bundles of very many files and of very large ones: flat memory, and an early first byte."""

import http.client
import os
import subprocess
import sys
import time
import zipfile
import zlib
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import insert, select, update

from strongroom.assembly.container import build
from strongroom.content.nodes.models import nodes
from strongroom.content.storage.models import blobs
from strongroom.content.storage.service import BlobService
from strongroom.foundation.config import load
from strongroom.foundation.ids import new_id
from tests.e2e.processes import MemoryWatch
from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.config import ONE_WORKER
from tests.support.databases import on_sqlite
from tests.support.server import Server

MEBIBYTE = 1024 * 1024
FILES = campaign_size("BUNDLE_FILES", 3000)
LARGE = int(os.environ.get("STRONGROOM_TEST_BUNDLE_MIB", "64")) * MEBIBYTE
RISE = 48 * MEBIBYTE
FIRST_BYTE_SECONDS = 1.0
BLOCK = MEBIBYTE


# The memory of one process is that of all requests.
pytestmark = [on_sqlite, pytest.mark.config(ONE_WORKER), pytest.mark.extended]


def fetch(client: Client, tenant: str, ids: list[str], target: Path) -> tuple[float, float]:
    """Download a bundle, leaving holes where it is zeros; return the seconds to its begin and end."""
    names = ",".join(f'"{file_id}"' for file_id in ids)
    body = f'{{"fileIds": [{names}]}}'.encode()
    with closing(client.connect()) as connection, target.open("wb") as file:
        headers = client.headers({"Content-Type": "application/json"})
        started = time.perf_counter()
        connection.request("POST", f"{tenant}/multi-files-download", body, headers)
        response = connection.getresponse()
        first = response.read(1)
        seconds = time.perf_counter() - started
        assert response.status == 200
        file.write(first)
        _copy(response, file.fileno())
        file.truncate(int(response.headers["Content-Length"]))
    return seconds, time.perf_counter() - started


def _copy(response: http.client.HTTPResponse, descriptor: int) -> None:
    offset, zeros = 1, bytes(BLOCK)
    while piece := response.read(BLOCK):
        if piece != zeros[: len(piece)]:
            os.pwrite(descriptor, piece, offset)
        offset += len(piece)
    assert response.length == 0


def test_very_many_small_files(server: Server, client: Client, tmp_path: Path) -> None:
    tenant = client.make_tenant("many")
    folder = client.expect(201, "POST", f"{tenant}/folders", {"name": "folder"}).json()["id"]
    sample = client.upload(tenant, "sample", b"x" * 100)
    fetch(client, tenant, [sample["id"]], tmp_path / "warm.zip")
    _multiply(server, sample["id"], folder, FILES)
    watch = MemoryWatch(server)
    before = watch.now()
    with watch.sampling():
        first, last = fetch(client, tenant, [folder], tmp_path / "many.zip")
    report(f"{FILES} files", first, watch.peak - before)
    assert_whole(tmp_path / "many.zip", FILES + 1)
    assert watch.peak - before < RISE
    # On a busy machine, everything takes longer.
    assert first < max(FIRST_BYTE_SECONDS, last / 2)


def test_a_very_large_file(server: Server, client: Client, tmp_path: Path) -> None:
    tenant = client.make_tenant("large")
    ids = [client.upload(tenant, name, b"x")["id"] for name in ("large", "after")]
    fetch(client, tenant, ids, tmp_path / "warm.zip")
    _inflate(server, ids[0], LARGE)
    watch = MemoryWatch(server)
    before = watch.now()
    with watch.sampling():
        first, last = fetch(client, tenant, ids, tmp_path / "large.zip")
    report(f"{LARGE // MEBIBYTE} MiB", first, watch.peak - before)
    assert_whole(tmp_path / "large.zip", 2)
    assert watch.peak - before < RISE
    # On a busy machine, everything takes longer.
    assert first < max(FIRST_BYTE_SECONDS, last / 2)


def report(what: str, seconds: float, risen: int) -> None:
    """Print the measurement; pytest shows it with -s."""
    sys.stdout.write(f"{what}: first byte {seconds:.2f} s, memory +{risen / MEBIBYTE:.1f} MiB\n")


def assert_whole(path: Path, count: int) -> None:
    """Check an archive as its readers do."""
    with zipfile.ZipFile(path) as archive:
        assert len(set(archive.namelist())) == count
        assert archive.testzip() is None
    result = subprocess.run(["unzip", "-tqq", path], check=False, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (0, "")


def _multiply(server: Server, file_id: str, folder_id: str, count: int) -> None:
    """Put so many nodes into a folder, all with the content of one file."""
    container = build(load(server.config, {}))
    try:
        with container.database.write() as connection:
            row = dict(connection.execute(select(nodes).where(nodes.c.id == file_id)).one()._mapping)
            rows = [
                {**row, "id": new_id(), "parent_id": folder_id, "name": f"Report {n:06} 文.txt"}
                for n in range(count)
            ]
            connection.execute(insert(nodes), rows)
    finally:
        container.close()


def _inflate(server: Server, file_id: str, size: int) -> None:
    """Make a file that large, of zeros that take no room on the disk."""
    crc = 0
    for _ in range(size // BLOCK):
        crc = zlib.crc32(bytes(BLOCK), crc)
    container = build(load(server.config, {}))
    try:
        with container.database.write() as connection:
            ours = nodes.c.id == file_id
            key = connection.execute(select(nodes.c.blob_key).where(ours)).scalar_one()
            connection.execute(update(nodes).where(ours).values(size=size))
            values = {"size": size, "crc32": crc}
            connection.execute(update(blobs).where(blobs.c.key == key).values(values))
        path = container.get(BlobService).location(key).object_key
    finally:
        container.close()
    stored = server.config.parent / "files" / path
    stored.write_bytes(b"")
    os.truncate(stored, size)
