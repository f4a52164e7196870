"""Concurrent downloads of one file, compared with the peer and with nginx without authentication."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench import nginx
from bench.client import Client
from bench.forms import raw_headers
from bench.harness import MEBIBYTE, Plan, Row
from bench.load import Contender, build_request, side_by_side
from bench.pocketbase import NAME as PEER
from bench.pocketbase import PeerClient, pocketbase
from bench.servers import strongroom

_RANGE_START: Final = 50 * MEBIBYTE
_RANGE_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Download:
    """The requested file and the number of clients. ``size`` is in bytes."""

    name: str
    size: int
    clients: int
    headers: dict[str, str]


DOWNLOADS: Final = (
    Download("download 1 MiB, 8 clients", MEBIBYTE, 8, {}),
    Download(
        "range of 64 KiB out of 100 MiB, 8 clients",
        100 * MEBIBYTE,
        8,
        {"Range": f"bytes={_RANGE_START}-{_RANGE_START + _RANGE_BYTES - 1}"},
    ),
    Download("download 100 MiB, 1 client", 100 * MEBIBYTE, 1, {}),
)


def measure(plan: Plan) -> list[Row]:
    """Measure downloads a second, and what each costs the server."""
    rows = [row for download in DOWNLOADS for row in _measure(plan, download)]
    if nginx.is_installed():
        rows += [row for download in DOWNLOADS[:2] for row in _measure_behind(plan, download)]
    return rows


def _measure(plan: Plan, download: Download) -> list[Row]:
    with TemporaryDirectory() as folder, ExitStack() as stack:
        ours, *others = _contenders(stack, Path(folder), download)
        return side_by_side(plan, download.name, download.clients, ours, *others)


def _measure_behind(plan: Plan, download: Download) -> list[Row]:
    """Measure what nginx sends once Strongroom has decided; of the cost, a part is nginx's."""
    with TemporaryDirectory() as folder, ExitStack() as stack:
        ours, *others = _contenders(stack, Path(folder), download, "x_accel")
        front = Path(folder, "front")
        front.mkdir()
        before = nginx.nginx_before(front, ours.server, Path(folder, "files"))
        behind = Contender("Strongroom", stack.enter_context(before), ours.request)
        name = f"{download.name}, behind nginx"
        rows = side_by_side(plan, name, download.clients, behind, *others)
    return [row for row in rows if not row.is_cost]


def download_request(client: Client, download: Download) -> bytes:
    """Make the file, and return the request for its content."""
    node = client.upload(client.files, raw_headers("download.bin"), os.urandom(download.size))
    path = f"{client.files}/{node['id']}/download"
    return build_request("GET", path, {**client.headers, **download.headers})


def _contenders(
    stack: ExitStack, folder: Path, download: Download, downloads: str = "server"
) -> Iterator[Contender]:
    server = stack.enter_context(strongroom(folder, downloads=downloads))
    yield Contender("Strongroom", server, download_request(Client(server), download))

    content = os.urandom(download.size)

    peer = stack.enter_context(pocketbase(folder))
    peer_client = PeerClient(peer)
    path = peer_client.download_path(peer_client.upload_file("download.bin", content))
    yield Contender(PEER, peer, build_request("GET", path, download.headers))

    if nginx.is_installed():
        root = folder / "root"
        root.mkdir()
        (root / "download.bin").write_bytes(content)
        limit = stack.enter_context(nginx.nginx(folder, root))
        yield Contender(nginx.NAME, limit, build_request("GET", "/download.bin", download.headers))
