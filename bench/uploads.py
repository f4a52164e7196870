"""Concurrent small uploads, durable before the response, compared with the peer and a bare fsync."""

import os
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.client import Client
from bench.forms import FORM_HEADERS, FORM_TAIL, form_head, raw_headers
from bench.harness import Plan, Row, interleave
from bench.load import Load, MakeRequest, build_request, compare, generate
from bench.pocketbase import NAME as PEER
from bench.pocketbase import RECORDS, PeerClient, pocketbase
from bench.servers import Server, strongroom

CLIENTS: Final = 8
CONTENT: Final = os.urandom(1024)
LIMIT: Final = "fsync of file and folder, 1 thread"


def measure(plan: Plan) -> list[Row]:
    """Measure uploads a second, and what each costs the server."""
    with (
        TemporaryDirectory() as folder,
        strongroom(Path(folder)) as server,
        pocketbase(Path(folder)) as peer,
    ):
        client = Client(server)
        forms, raws, peers, writes = interleave(
            plan.rounds,
            _uploads(plan, server, form_requests(client)),
            _uploads(plan, server, raw_requests(client)),
            _uploads(plan, peer, _peer_forms(PeerClient(peer))),
            lambda: _write_durably(Path(folder) / "bare", plan.seconds),
        )
    others = {PEER: peers, LIMIT: writes}
    name = f"upload 1 KiB, {CLIENTS} clients"
    return [*compare(f"{name}, multipart", forms, others), *compare(f"{name}, raw", raws, others)]


def form_requests(client: Client) -> MakeRequest:
    """Return a source of multipart uploads."""
    return _under_new_names(lambda name: _form(client.files, client.headers, name, {}))


def raw_requests(client: Client) -> MakeRequest:
    """Return a source of uploads whose body is the file."""

    def build(name: str) -> bytes:
        headers = {**client.headers, **raw_headers(f"{name}-raw.bin")}
        return build_request("POST", client.files, headers, CONTENT)

    return _under_new_names(build)


def _uploads(plan: Plan, server: Server, make_request: MakeRequest) -> Callable[[], Load]:
    return lambda: generate(server, make_request, clients=CLIENTS, seconds=plan.seconds)


def _under_new_names(build: Callable[[str], bytes]) -> MakeRequest:
    """Return what makes requests that differ in the name of the file, and are built but once."""
    numbers, placeholder = count(), "0" * 12
    template = build(placeholder)

    def make() -> bytes:
        return template.replace(placeholder.encode(), f"{next(numbers):012}".encode())

    return make


def _form(path: str, headers: dict[str, str], name: str, fields: dict[str, str]) -> bytes:
    body = form_head(f"{name}.bin", fields) + CONTENT + FORM_TAIL
    return build_request("POST", path, {**headers, **FORM_HEADERS}, body)


def _peer_forms(client: PeerClient) -> MakeRequest:
    owner = client.owner
    return _under_new_names(
        lambda name: _form(RECORDS, client.headers, name, {"name": name, "owner": owner})
    )


def _write_durably(folder: Path, seconds: float) -> Load:
    folder.mkdir(exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    spent, started, written = time.process_time(), time.perf_counter(), 0
    try:
        while time.perf_counter() < started + seconds or not written:
            with (folder / f"{started}-{written}").open("xb", buffering=0) as file:
                file.write(CONTENT)
                os.fsync(file.fileno())
            os.fsync(descriptor)
            written += 1
    finally:
        os.close(descriptor)
    return Load(written, time.perf_counter() - started, time.process_time() - spent)
