"""Details of a file during logins: responses must not wait for password hashes."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Final

from bench.client import Client
from bench.details import details_request, peer_request
from bench.harness import Limit, Plan, Row, interleave
from bench.load import generate, latencies
from bench.login import login_request
from bench.pocketbase import LOGIN as PEER_LOGIN
from bench.pocketbase import NAME as PEER
from bench.pocketbase import PeerClient, pocketbase
from bench.servers import Server, strongroom

LOGGING_IN: Final = 8

Times = Sequence[float]


def measure(plan: Plan) -> list[Row]:
    """Measure how long one client waits for details, in milliseconds."""
    with (
        TemporaryDirectory() as folder,
        strongroom(Path(folder)) as server,
        pocketbase(Path(folder)) as peer,
    ):
        details, peers = details_request(Client(server)), peer_request(PeerClient(peer))
        ours, theirs = interleave(
            plan.rounds,
            lambda: _times(server, login_request(), details, plan.seconds),
            lambda: _times(peer, login_request(PEER_LOGIN, "identity"), peers, plan.seconds),
        )
    name = f"details while {LOGGING_IN} clients log in"
    return [_row(f"{name}: median", ours, theirs, median), _row(f"{name}: p99", ours, theirs, _p99)]


def _row(name: str, ours: Sequence[Times], theirs: Sequence[Times], of: Callable[[Times], float]) -> Row:
    return Row(name, "ms", [*map(of, ours)], Limit(PEER, [*map(of, theirs)]), is_cost=True)


def _p99(times: Times) -> float:
    return quantiles(times, n=100)[-1]


def _times(server: Server, login: bytes, details: bytes, seconds: float) -> Times:
    with ThreadPoolExecutor(1) as pool:
        logins = pool.submit(generate, server, login, clients=LOGGING_IN, seconds=seconds)
        # Start once the queue of logins is full.
        time.sleep(seconds / 10)
        taken = latencies(server, details, seconds=seconds * 0.8)
        logins.result()
    return [seconds * 1000 for seconds in taken]
