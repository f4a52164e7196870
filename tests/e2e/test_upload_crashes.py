"""Power failures and full disks during resumable uploads: acknowledged bytes stay."""

import base64
import hashlib
import os
import random
import shutil
import subprocess
from collections.abc import Iterator
from http.client import HTTPException, HTTPResponse
from pathlib import Path

import pytest
from sqlalchemy import func, select, update

from strongroom.content.storage.models import BlobState, blobs
from strongroom.content.storage.service import BlobService
from strongroom.extensions.uploads.repository import upload_parts, uploads
from strongroom.extensions.uploads.service import UploadService
from strongroom.testing.clock import HOUR
from tests.e2e.offline import services
from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.server import Server, serving, write_config
from tests.support.stores import stored_files

ROUNDS = campaign_size("TUS_CRASHES", 2)
MEBIBYTE = 1024 * 1024
SIZE = 6 * MEBIBYTE
PIECE = 1 * MEBIBYTE
CONTENT = random.Random(1).randbytes(SIZE)
VERSION = {"Tus-Resumable": "1.0.0"}
DISK_BYTES = 16 * MEBIBYTE


class TusClient:
    """Speaks tus, piece by piece, so that it can be stopped anywhere."""

    def __init__(self, client: Client, tenant: str, name: str, size: int = SIZE) -> None:
        self.client = client
        encoded = base64.b64encode(name.encode()).decode()
        headers = {"Upload-Length": str(size), "Upload-Metadata": f"filename {encoded}"}
        response = self.send("POST", f"{tenant}/uploads", None, headers)
        assert response.status == 201, response.status
        location = response.headers["Location"]
        self.path = location[location.index("/api/") :]

    def send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> HTTPResponse:
        connection = self.client.connect()
        try:
            connection.request(method, path, body, self.client.headers({**VERSION, **headers}))
            response = connection.getresponse()
            response.read()
            return response
        finally:
            connection.close()

    def patch(self, offset: int, content: bytes) -> HTTPResponse:
        headers = {
            "Upload-Offset": str(offset),
            "Content-Type": "application/offset+octet-stream",
        }
        return self.send("PATCH", self.path, content, headers)

    def offset(self) -> int:
        response = self.send("HEAD", self.path, None, {})
        assert response.status == 200
        return int(response.headers["Upload-Offset"])

    def finish(self) -> None:
        """Go on until the file is there, as a client does that was cut off."""
        while (offset := self.offset()) < SIZE:
            assert self.patch(offset, CONTENT[offset : offset + PIECE]).status == 204


pytestmark = [pytest.mark.config({"tokens": {"lifetime_seconds": 3600}}), pytest.mark.extended]


def let_leases_run_out(config: Path) -> None:
    """Expire all leases, as if the crash were long ago."""
    with services(config) as container, container.database.write() as connection:
        connection.execute(update(uploads).values(lease_until=0))


def assert_nothing_left_over(config: Path) -> None:
    """Check that two days later, after a collection, each object is some file's."""
    with services(config, 48 * HOUR) as container:
        container.get(UploadService).collect()
        container.get(BlobService).collect()
        with container.database.read() as connection:
            rows = connection.execute(select(blobs.c.object_key, blobs.c.state)).all()
            parts = connection.execute(select(func.count()).select_from(upload_parts)).scalar_one()
        stored = {item.key for item in container.get(BlobService).storages["main"].scan()}
    assert {row.state for row in rows} <= {BlobState.STORED.value}
    assert ({row.object_key for row in rows}, parts) == (stored, 0)


def cut_off(server: Server, upload: TusClient, offset: int, content: bytes) -> None:
    """Begin a request, and kill the server before all of it is sent."""
    connection = upload.client.connect()
    connection.putrequest("PATCH", upload.path)
    headers = {
        **VERSION,
        "Upload-Offset": str(offset),
        "Content-Type": "application/offset+octet-stream",
        "Content-Length": str(len(content)),
    }
    for name, value in upload.client.headers(headers).items():
        connection.putheader(name, value)
    connection.endheaders()
    connection.send(content[: len(content) // 2])
    server.kill()
    connection.close()


def test_acknowledged_bytes_survive_a_crash(server_config: Path) -> None:
    client, upload, acknowledged = None, None, 0
    for number in range(ROUNDS):
        with serving(server_config) as server:
            if upload is None:
                server.create_user("alice@example.com")
                client = Client.logged_in(server.url, "alice@example.com")
                tenant = client.make_tenant("Acme")
                upload = TusClient(client, tenant, "large.bin")
            assert upload.offset() == acknowledged
            if number == 0:
                response = upload.patch(0, CONTENT[:PIECE])
                acknowledged = int(response.headers["Upload-Offset"])
            cut_off(server, upload, acknowledged, CONTENT[acknowledged:])
        let_leases_run_out(server_config)
    assert client is not None
    assert upload is not None
    with serving(server_config):
        assert client.files(tenant) == []
        assert upload.offset() >= acknowledged
        upload.finish()
        (file,) = client.files(tenant)
        assert file["checksum"] == f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"
        assert client.download(tenant, file["id"]) == CONTENT
    assert_nothing_left_over(server_config)


def test_an_unfinished_upload_leaves_nothing(server_config: Path, tmp_path: Path) -> None:
    with serving(server_config) as server:
        server.create_user("alice@example.com")
        client = Client.logged_in(server.url, "alice@example.com")
        upload = TusClient(client, client.make_tenant("Acme"), "large.bin")
        upload.patch(0, CONTENT[:PIECE])
        cut_off(server, upload, PIECE, CONTENT[PIECE:])
    assert_nothing_left_over(server_config)
    assert stored_files(tmp_path / "files") == []
    with services(server_config) as container:
        assert list(container.get(BlobService).storages["main"].scan()) == []


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk of its own that is soon full."""
    folder = tmp_path / "files"
    folder.mkdir()
    command: list[str | Path] = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", folder]
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("a disk can be mounted by root alone")
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {result.stderr.strip()}")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_is_507_and_shows_nothing_half(small_disk: Path, tmp_path: Path) -> None:
    # The default reserve is larger than this disk.
    storage = {"storages": {"main": {"root": str(small_disk), "reserve_bytes": 0}}}
    config = write_config(tmp_path, f"sqlite:///{tmp_path}/strongroom.sqlite3", storage)
    with serving(config) as server:
        server.create_user("alice@example.com")
        client = Client.logged_in(server.url, "alice@example.com")
        tenant = client.make_tenant("Acme")
        first = client.upload(tenant, "first", CONTENT)
        large = random.Random(2).randbytes(2 * SIZE)
        assert client.send(tenant, "raw", large, len(large)).status == 507
        assert statuses_until_full(client, tenant) == 507
        assert [node["name"] for node in client.files(tenant)] == ["first"]
        assert client.download(tenant, first["id"]) == CONTENT
        client.expect(200, "DELETE", f"{tenant}/files/{first['id']}")
        assert client.upload(tenant, "again", CONTENT)["size"] == SIZE
    assert_nothing_left_over(config)


def statuses_until_full(client: Client, tenant: str) -> int:
    """Upload in pieces, and return the status of the one that finds the disk full."""
    upload = TusClient(client, tenant, "pieces", 4 * SIZE)
    while True:
        offset = upload.offset()
        try:
            response = upload.patch(offset, bytes(PIECE))
        except (OSError, HTTPException):
            continue
        if response.status != 204:
            # Acknowledged bytes stay acknowledged.
            assert upload.offset() == offset
            upload.send("DELETE", upload.path, None, {})
            return response.status
