"""Files stored by WebDAV, compared with raw uploads to the same server and ``rclone serve webdav``.

The peer writes files without waiting for the disk, so it would lose stored files in a power failure.
"""

import os
import shutil
import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from http.client import HTTPConnection
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.client import PASSWORD, Client
from bench.forms import raw_headers
from bench.harness import MEBIBYTE, Limit, Plan, Row, interleave
from bench.load import SILENCE_SECONDS, MakeRequest, build_request, compare, generate
from bench.servers import HOST, Server, running, strongroom
from strongroom.testing.server import free_port

PEER: Final = "rclone serve webdav"
RAW: Final = "raw upload"
CLIENTS: Final = 8
PLUGINS: Final = ("storage_local", "webdav")

_CONTENT: Final = os.urandom(10 * 1024)
_PIECE_BYTES: Final = MEBIBYTE


def measure(plan: Plan) -> list[Row]:
    """Measure small files per second, and the speed of a large one."""
    with (
        TemporaryDirectory() as folder,
        strongroom(Path(folder), plugins=PLUGINS) as server,
        _peer(Path(folder)) as peer,
    ):
        client = Client(server)
        drive = {"Authorization": _basic(client)}
        return [
            *_small(plan, server, client, drive, peer),
            *_large(plan, server, client, drive, peer, Path(folder) / "large"),
        ]


def _small(
    plan: Plan, server: Server, client: Client, drive: Mapping[str, str], peer: Server | None
) -> list[Row]:
    # As rclone sends it, which keeps the times of files.
    timed = {**drive, "X-OC-Mtime": "1788256800"}
    contenders = {
        "": (server, _puts("/dav/Bench", timed)),
        RAW: (server, _uploads(client)),
        **({} if peer is None else {PEER: (peer, _puts("", {}))}),
    }
    puts, *theirs = interleave(
        plan.rounds,
        *(
            partial(generate, target, request, clients=CLIENTS, seconds=plan.seconds)
            for target, request in contenders.values()
        ),
    )
    return compare(
        f"PUT 10 KiB by WebDAV, {CLIENTS} clients",
        puts,
        dict(zip([*contenders][1:], theirs, strict=True)),
    )


def _puts(folder: str, headers: Mapping[str, str]) -> MakeRequest:
    numbers = count()
    return lambda: build_request("PUT", f"{folder}/{next(numbers)}.bin", headers, _CONTENT)


def _uploads(client: Client) -> MakeRequest:
    numbers = count()

    def make() -> bytes:
        headers = {**client.headers, **raw_headers(f"{next(numbers)}-raw.bin")}
        return build_request("POST", client.files, headers, _CONTENT)

    return make


def _large(
    plan: Plan,
    server: Server,
    client: Client,
    drive: Mapping[str, str],
    peer: Server | None,
    path: Path,
) -> list[Row]:
    with path.open("wb") as file:
        for _ in range(plan.transfer_bytes // _PIECE_BYTES):
            file.write(os.urandom(_PIECE_BYTES))
    numbers = count()

    def put(port: int, folder: str, headers: Mapping[str, str]) -> float:
        return _send(port, "PUT", f"{folder}/large-{next(numbers)}.bin", headers, path)

    def upload() -> float:
        headers = {**client.headers, **raw_headers(f"raw-{next(numbers)}.bin")}
        return _send(server.port, "POST", client.files, headers, path)

    senders: dict[str, Callable[[], float]] = {
        "": partial(put, server.port, "/dav/Bench", drive),
        RAW: upload,
        **({} if peer is None else {PEER: partial(put, peer.port, "", {})}),
    }
    puts, *theirs = interleave(plan.rounds, *senders.values())
    name = f"PUT {plan.transfer_bytes // MEBIBYTE} MiB by WebDAV"
    return [
        Row(name, "MiB/s", puts, Limit(other, speeds))
        for other, speeds in zip([*senders][1:], theirs, strict=True)
    ]


def _send(port: int, method: str, path: str, headers: Mapping[str, str], content: Path) -> float:
    """Send a file as the body of a request, and return the mebibytes per second."""
    size = content.stat().st_size
    with (
        content.open("rb") as file,
        closing(HTTPConnection(HOST, port, timeout=SILENCE_SECONDS)) as connection,
    ):
        started = time.perf_counter()
        connection.putrequest(method, path)
        for name, value in {**headers, "Content-Length": str(size)}.items():
            connection.putheader(name, value)
        connection.endheaders()
        connection.sock.sendfile(file)
        response = connection.getresponse()
        response.read()
        if response.status != 201:  # noqa: PLR2004  created
            raise RuntimeError(f"unexpected answer {response.status}")
        return size / MEBIBYTE / (time.perf_counter() - started)


def _basic(client: Client) -> str:
    """Return the value of Authorization with a new access key."""
    body = {"name": "bench", "scopes": ["files:share"], "currentPassword": PASSWORD}
    key = client.post("/users/me/access-keys", body)["key"]
    return f"Basic {b64encode(f'bench:{key}'.encode()).decode()}"


@contextmanager
def _peer(folder: Path) -> Iterator[Server | None]:
    """Run the peer on an empty folder, if it is installed."""
    program = shutil.which("rclone")
    if program is None:
        yield None
        return
    port, root = free_port(), folder / "peer"
    root.mkdir()
    address = f"{HOST}:{port}"
    command = [program, "serve", "webdav", str(root), "--addr", address, "--config", os.devnull]
    with running(command, port, folder / "peer.toml") as server:
        yield server
