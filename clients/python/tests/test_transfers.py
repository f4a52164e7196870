"""Uploads and downloads that continue: after broken connections, and after kill -9."""

import asyncio
import io
import math
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tests.support.campaign import campaign_size
from tests.support.proxy import cutting

from strongroom.testing.server import PASSWORD, LiveServer, LiveUser
from strongroom_client import (
    AsyncClient,
    Client,
    ConnectionFailed,
    FileTokens,
    FolderUploads,
    MemoryTokens,
    Progress,
    Retries,
    SourceChanged,
    errors_by_code,
)
from strongroom_client.api import files
from strongroom_client.files import checksum
from strongroom_client.models import NewFolder

MIB = 1024 * 1024
UPLOAD_MIB = campaign_size("CLIENT_UPLOAD_MIB", 32)

TRANSFER = """
import os, signal, sys
from pathlib import Path
from strongroom_client import Client, FileTokens, FolderUploads, Progress

halt_at, url, state, verb, tenant, *rest = sys.argv[1:]

def show(progress: Progress) -> None:
    sys.stdout.write(f"{progress.done}\\n")
    # By itself, because another process might come too late.
    if progress.done >= float(halt_at):
        os.kill(os.getpid(), signal.SIGKILL)

folder = Path(state)
uploads = FolderUploads(folder / "uploads")
with Client(url, tokens=FileTokens(folder / "tokens.json"), uploads=uploads) as client:
    getattr(client, verb)(tenant, *rest, progress=show)
"""


@pytest.fixture
def state(tmp_path: Path, client: Client) -> Path:
    """A folder with the tokens of a login, and for the state of uploads."""
    folder = tmp_path / "state"
    folder.mkdir()
    tokens = client._session._tokens
    assert isinstance(tokens, MemoryTokens)
    FileTokens(folder / "tokens.json").save(tokens.load())
    return folder


class Killed:
    """A transfer in another process, which kills itself when it has done a part."""

    def __init__(self, server: LiveServer, state: Path, *arguments: str) -> None:
        self._arguments = [server.url, str(state), *arguments]

    def kill_after(self, done: int) -> None:
        """Run the transfer until it has done so many bytes."""
        result = self._run(done)
        assert result.returncode == -signal.SIGKILL, result.stderr

    def finish(self) -> list[int]:
        """Run the transfer to its end, and return its progress."""
        result = self._run(math.inf)
        assert result.returncode == 0, result.stderr
        return [int(line) for line in result.stdout.splitlines()]

    def _run(self, halt_at: float) -> "subprocess.CompletedProcess[str]":
        command = [sys.executable, "-c", TRANSFER, str(halt_at), *self._arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Path]:
    """A file of random bytes."""
    path = tmp_path / "source.bin"
    with path.open("wb") as file:
        for _ in range(UPLOAD_MIB):
            file.write(os.urandom(MIB))
    yield path
    path.unlink()


def test_a_killed_upload_and_download_continue(
    server: LiveServer, client: Client, state: Path, source: Path, tenant_id: str
) -> None:
    total = source.stat().st_size
    upload = Killed(server, state, "upload", tenant_id, str(source))
    upload.kill_after(total // 4)
    upload.kill_after(total // 2)
    resumed = upload.finish()
    assert resumed[0] >= total // 2
    assert resumed[-1] == total
    assert list((state / "uploads").iterdir()) == []
    (node,) = client.iterate(files.list_files(tenant_id, "me"))
    assert (node.name, node.checksum) == ("source.bin", checksum(source))

    copy = state / "copy.bin"
    download = Killed(server, state, "download", tenant_id, node.id, str(copy))
    download.kill_after(total // 3)
    assert not copy.exists()
    resumed = download.finish()
    assert resumed[0] >= total // 3
    assert checksum(copy) == node.checksum
    assert list(state.glob(".copy.bin*")) == []


@pytest.mark.parametrize("size", [0, 1, MIB, MIB + 1])
def test_files_around_the_limit_of_one_request(
    client: Client, tenant_id: str, tmp_path: Path, size: int
) -> None:
    path = tmp_path / '报告 100% "x".bin'
    path.write_bytes(os.urandom(size))
    seen: list[Progress] = []
    node = client.upload(tenant_id, path, progress=seen.append)
    assert (node.name, node.size) == (path.name, size)
    assert seen[-1] == Progress(size, size)
    copy = client.download(tenant_id, node.id, tmp_path / "copy")
    assert copy.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("towards_server", [True, False])
def test_transfers_survive_broken_connections(
    server: LiveServer, client: Client, tenant_id: str, large: Path, towards_server: bool
) -> None:
    cuts = [5 * MIB, 3 * MIB, 1 * MIB]
    retries = Retries(first_wait=0)
    with cutting(list(cuts), towards_server=towards_server, server_url=server.url) as proxy:
        url = f"http://127.0.0.1:{proxy.port}"
        with Client(url, tokens=client._session._tokens, retries=retries) as other:
            node = other.upload(tenant_id, large)
            copy = other.download(tenant_id, node.id, large.with_name("copy"))
    assert proxy.made == len(cuts)
    assert checksum(copy) == checksum(large) == node.checksum


def test_two_processes_may_upload_the_same_file(
    server: LiveServer, client: Client, state: Path, tenant_id: str, large: Path
) -> None:
    fast = Killed(server, state, "upload", tenant_id, str(large))
    fast.kill_after(8 * MIB)
    overtaken: list[int] = []

    def overtake(progress: Progress) -> None:
        if progress.done == 8 * MIB and not overtaken:
            overtaken.extend(fast.finish())

    tokens, uploads = FileTokens(state / "tokens.json"), FolderUploads(state / "uploads")
    with Client(server.url, tokens=tokens, uploads=uploads) as other:
        assert other.upload(tenant_id, large, progress=overtake).checksum == checksum(large)


def test_a_folder_is_no_download(client: Client, tenant_id: str, tmp_path: Path) -> None:
    folder = client.send(files.create_folder(tenant_id, body=NewFolder(name="Reports")))
    with pytest.raises(errors_by_code.NotAFile):
        client.download(tenant_id, folder.id, tmp_path / "copy")
    assert list(tmp_path.iterdir()) == []


def test_tasks_transfer_together(
    server: LiveServer, client: Client, tenant_id: str, large: Path
) -> None:
    async def copy(alice: AsyncClient, name: str) -> Path:
        node = await alice.upload(tenant_id, large, name=name)
        return await alice.download(tenant_id, node.id, large.with_name(name))

    async def transfer() -> list[Path]:
        async with AsyncClient(server.url, tokens=client._session._tokens) as alice:
            return await asyncio.gather(*(copy(alice, f"copy {number}") for number in range(3)))

    copies = asyncio.run(transfer())
    assert {checksum(path) for path in copies} == {checksum(large)}


def contents(large: Path) -> Iterator[tuple[str, object]]:
    """Yield content of every kind that an upload takes."""
    content = large.read_bytes()
    yield "bytes", content
    yield "memory", io.BytesIO(content)
    with large.open("rb") as file:
        yield "file", file
    yield "pieces", iter([content[:5], b"", content[5:]])
    with subprocess.Popen(["cat", large], stdout=subprocess.PIPE) as process:
        yield "pipe", process.stdout


def test_content_of_every_kind_goes_up_and_down(client: Client, tenant_id: str, large: Path) -> None:
    for name, content in contents(large):
        node = client.upload(tenant_id, content, name=name)  # type: ignore[arg-type]  # each of the union
        assert (node.name, node.checksum) == (name, checksum(large))
    target = io.BytesIO(b"before ")
    target.seek(0, io.SEEK_END)
    seen: list[Progress] = []
    client.download(tenant_id, node.id, target, progress=seen.append)
    assert target.getvalue() == b"before " + large.read_bytes()
    assert seen[-1] == Progress(node.size, node.size)
    assert b"".join(client.stream(tenant_id, node.id)) == large.read_bytes()


def test_a_file_is_uploaded_from_its_position_and_by_its_name(
    client: Client, tenant_id: str, large: Path
) -> None:
    with large.open("rb") as file:
        file.seek(-3, os.SEEK_END)
        node = client.upload(tenant_id, file)
    assert (node.name, node.size) == ("large.bin", 3)
    with pytest.raises(TypeError, match="name: required"):
        client.upload(tenant_id, b"content")


def test_a_task_uploads_pieces_and_reads_a_stream(
    server: LiveServer, alice: LiveUser, tenant_id: str
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"first, "
        yield b"second"

    async def run() -> bytes:
        async with AsyncClient(server.url) as client:
            await client.log_in(alice.email, PASSWORD)
            node = await client.upload(tenant_id, pieces(), name="pieces.txt")
            return b"".join([piece async for piece in client.stream(tenant_id, node.id)])

    assert asyncio.run(run()) == b"first, second"


def test_streams_survive_broken_connections(
    server: LiveServer, client: Client, tenant_id: str, large: Path
) -> None:
    cuts = [5 * MIB, 3 * MIB]
    node = client.upload(tenant_id, large)
    with cutting(list(cuts), towards_server=False, server_url=server.url) as proxy:
        url = f"http://127.0.0.1:{proxy.port}"
        with Client(url, tokens=client._session._tokens, retries=Retries(first_wait=0)) as other:
            assert b"".join(other.stream(tenant_id, node.id)) == large.read_bytes()
    assert proxy.made == len(cuts)


def test_a_taken_name_follows_the_rule(client: Client, tenant_id: str, large: Path) -> None:
    first = client.upload(tenant_id, large)
    with pytest.raises(errors_by_code.NameConflict):
        client.upload(tenant_id, large)
    assert client.upload(tenant_id, large, on_conflict="rename").name != first.name
    assert client.upload(tenant_id, large, on_conflict="replace").id == first.id


def test_a_changed_source_is_not_uploaded(client: Client, tenant_id: str, large: Path) -> None:
    def change(progress: Progress) -> None:
        if progress.done:
            os.utime(large, (1, 1))

    with pytest.raises(SourceChanged):
        client.upload(tenant_id, large, progress=change)
    assert client.send(files.list_files(tenant_id, "me")).data == []


def test_an_upload_that_the_server_has_dropped_begins_again(
    server: LiveServer, client: Client, tenant_id: str, large: Path, tmp_path: Path
) -> None:
    states = FolderUploads(tmp_path / "uploads")
    tokens = client._session._tokens

    class Forgetful(FolderUploads):
        def find(self, fingerprint: str) -> str | None:
            return "0199-no-such-upload"

    with Client(server.url, tokens=tokens, uploads=Forgetful(tmp_path / "uploads")) as other:
        assert other.upload(tenant_id, large).checksum == checksum(large)
    assert states.find("0199") is None


def test_a_replaced_file_is_never_mixed_with_its_former_content(
    client: Client, tenant_id: str, large: Path, tmp_path: Path
) -> None:
    node = client.upload(tenant_id, large)
    copy = tmp_path / "copy"

    def replace(progress: Progress) -> None:
        if progress.done and not copy.with_suffix(".done").exists():
            copy.with_suffix(".done").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client.download(tenant_id, node.id, copy, progress=replace)
    large.write_bytes(large.read_bytes()[::-1])
    client.upload(tenant_id, large, on_conflict="replace")
    client.download(tenant_id, node.id, copy)
    assert checksum(copy) == checksum(large)


def test_an_unreachable_server_is_a_failed_connection(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"content")
    retries = Retries(attempts=2, first_wait=0)
    with Client("http://127.0.0.1:9", retries=retries) as client, pytest.raises(ConnectionFailed):
        client.upload("tenant", path)
