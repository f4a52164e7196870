"""Strongroom compared with another checkout of it, which serves the same requests alternately."""

import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.bundles import bundle_of_new_files
from bench.client import EMAIL, PASSWORD, Client
from bench.details import CLIENTS, details_request
from bench.details import NAME as DETAILS
from bench.downloads import DOWNLOADS, Download, download_request
from bench.harness import Plan, Row, interleave
from bench.load import Load, MakeRequest, compare, generate
from bench.login import TURNS, login_request
from bench.pages import FILES, PAGE, page_request
from bench.servers import STRONGROOM, Server, strongroom
from bench.transfer import Transfers
from bench.uploads import form_requests, raw_requests
from bench.usage import processor_seconds

Turn = Callable[[], Load]


@dataclass(frozen=True, slots=True)
class Scene:
    """A server of one of the two checkouts, and the folder of its data."""

    plan: Plan
    folder: Path
    server: Server

    def repeat(self, request: bytes | MakeRequest, clients: int = 8, turns: int = 1) -> Turn:
        """Return a measurement in which clients repeat a request."""
        seconds = self.plan.seconds * turns
        return lambda: generate(self.server, request, clients=clients, seconds=seconds)

    def once(self, work: Callable[[], object]) -> Turn:
        """Return a measurement in which one client makes one request."""

        def turn() -> Load:
            spent, started = processor_seconds(self.server.pid), time.perf_counter()
            work()
            taken = time.perf_counter() - started
            return Load(1, taken, processor_seconds(self.server.pid) - spent)

        return turn


@dataclass(frozen=True, slots=True)
class Workload:
    """A request that both checkouts serve.

    Args:
        bench: the name of the bench that measures the same request.
        name: the name of the row.
        prepare: creates the data for the request on an empty server.
    """

    bench: str
    name: str
    prepare: Callable[[Scene], Turn]


def _login(scene: Scene) -> Turn:
    scene.server.create_user(EMAIL, PASSWORD)
    return scene.repeat(login_request(), turns=TURNS)


def _page(scene: Scene) -> Turn:
    return scene.repeat(page_request(scene.folder, Client(scene.server)))


def _download(download: Download, scene: Scene) -> Turn:
    return scene.repeat(download_request(Client(scene.server), download), download.clients)


def _upload(scene: Scene) -> Turn:
    transfers = Transfers(scene.server, scene.folder, scene.plan.transfer_bytes)
    return scene.once(transfers.upload_form)


def _bundle(scene: Scene) -> Turn:
    return scene.once(bundle_of_new_files(scene.server, scene.folder / "bundled", scene.plan.bundled))


WORKLOADS: Final = (
    Workload(
        "uploads",
        "upload 1 KiB, 8 clients, multipart",
        lambda scene: scene.repeat(form_requests(Client(scene.server))),
    ),
    Workload(
        "uploads",
        "upload 1 KiB, 8 clients, raw",
        lambda scene: scene.repeat(raw_requests(Client(scene.server))),
    ),
    Workload("login", "login, 8 clients", _login),
    Workload(
        "details",
        DETAILS,
        lambda scene: scene.repeat(details_request(Client(scene.server)), CLIENTS),
    ),
    Workload("pages", f"page of {PAGE} of {FILES:,} of one's own, 8 clients", _page),
    *(Workload("downloads", download.name, partial(_download, download)) for download in DOWNLOADS),
    Workload("transfer", "upload of a large file, multipart", _upload),
    Workload("bundles", "bundle of many files", _bundle),
)
START: Final = "startup"


def measure(plan: Plan, other: Path, benches: Iterable[str]) -> list[Row]:
    """Measure the workloads of some benches, and compare them with the checkout in ``other``."""
    chosen = set(benches)
    rows = [row for each in WORKLOADS if each.bench in chosen for row in _measure(plan, other, each)]
    return [*rows, *_measure_start(plan, other)] if START in chosen else rows


def _programs(other: Path) -> tuple[str, str]:
    return STRONGROOM, str(other / ".venv" / "bin" / "strongroom")


def _measure(plan: Plan, other: Path, workload: Workload) -> list[Row]:
    """Return the rows of a workload, whose figures and spread are over pairs of fresh servers."""
    pairs = [_measure_pair(plan, other, workload) for _ in range(plan.pairs)]
    ours, theirs = ([Load.total(loads) for loads in side] for side in zip(*pairs, strict=True))
    return compare(workload.name, ours, {other.name: theirs})


def _measure_pair(plan: Plan, other: Path, workload: Workload) -> list[list[Load]]:
    """Return the measurements of each side by a pair of servers."""
    with ExitStack() as stack:
        turns = []
        for program in _programs(other):
            folder = Path(stack.enter_context(TemporaryDirectory()))
            server = stack.enter_context(strongroom(folder, program=program))
            turns.append(workload.prepare(Scene(plan, folder, server)))
        return interleave(plan.rounds, *turns)


def _measure_start(plan: Plan, other: Path) -> list[Row]:
    with TemporaryDirectory() as folder:
        folders = [Path(folder, side) for side in ("ours", "theirs")]
        for each in folders:
            each.mkdir()
        starts = map(partial, (_start, _start), _programs(other), folders)
        ours, theirs = interleave(plan.rounds, *starts)
    return compare("starts until the first answer", ours, {other.name: theirs})


def _start(program: str, folder: Path) -> Load:
    started = time.perf_counter()
    with strongroom(folder, program=program) as server:
        taken = time.perf_counter() - started
        return Load(1, taken, processor_seconds(server.pid))
