"""Login by password, compared with the peer and with bare hashing on every core."""

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import bcrypt

from bench.client import EMAIL, PASSWORD
from bench.harness import Plan, Row, interleave
from bench.load import Load, build_request, compare, generate
from bench.pocketbase import LOGIN as PEER_LOGIN
from bench.pocketbase import NAME as PEER
from bench.pocketbase import PeerClient, pocketbase
from bench.servers import BCRYPT_COST, strongroom

CLIENTS: Final = 8
TURNS: Final = 3
"""Factor of the duration, because one core is idle at the end while others finish the queue."""


def measure(plan: Plan) -> list[Row]:
    """Measure logins a second, and what each costs the server."""
    seconds = plan.seconds * TURNS
    with (
        TemporaryDirectory() as folder,
        strongroom(Path(folder)) as server,
        pocketbase(Path(folder)) as peer,
    ):
        server.create_user(EMAIL, PASSWORD)
        PeerClient(peer)
        ours = login_request()
        theirs = login_request(PEER_LOGIN, "identity")
        logins, peers, hashes = interleave(
            plan.rounds,
            lambda: generate(server, ours, clients=CLIENTS, seconds=seconds),
            lambda: generate(peer, theirs, clients=CLIENTS, seconds=seconds),
            lambda: _verify_bare(seconds),
        )
    name = f"login, bcrypt cost {BCRYPT_COST}, {CLIENTS} clients"
    return compare(name, logins, {PEER: peers, f"bare bcrypt, {_threads()} threads": hashes})


def login_request(path: str = "/authorizations", identity: str = "username") -> bytes:
    """Return a login by password."""
    body = json.dumps({identity: EMAIL, "password": PASSWORD}).encode()
    return build_request("POST", path, {"Content-Type": "application/json"}, body)


def _threads() -> int:
    return os.cpu_count() or 1


def _verify_bare(seconds: float) -> Load:
    stored = bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(BCRYPT_COST))

    def verify(_: int) -> int:
        count = 0
        while time.perf_counter() < started + seconds:
            bcrypt.checkpw(PASSWORD.encode(), stored)
            count += 1
        return count

    with ThreadPoolExecutor(_threads()) as pool:
        spent, started = time.process_time(), time.perf_counter()
        verified = sum(pool.map(verify, range(_threads())))
        return Load(verified, time.perf_counter() - started, time.process_time() - spent)
