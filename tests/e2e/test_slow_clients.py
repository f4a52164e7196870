"""Clients that send or read slowly, or not at all: they hold no thread, and their connections end.

``STRONGROOM_TEST_HOSTILE_CONNECTIONS=150`` makes it the campaign, with the threads, the grace period and
the bcrypt cost that are the defaults, and with its figures on standard output (``-s``).
"""

import contextlib
import functools
import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from strongroom.web.gateway.limits import Admission
from tests.e2e.hostile import Attack, attacking, attacks, half_sent, percentile
from tests.e2e.processes import MemoryWatch
from tests.support.campaign import campaign_size
from tests.support.client import PASSWORD, Client
from tests.support.config import ONE_WORKER, Table, lifted
from tests.support.nginx import nginx_before
from tests.support.server import Server, serving, write_config
from tests.support.waiting import SLACK_SECONDS, wait_until

COUNT = campaign_size("HOSTILE_CONNECTIONS", 24)
IS_CAMPAIGN = COUNT >= 150
THREADS = 64 if IS_CAMPAIGN else 8
GRACE_SECONDS = 10 if IS_CAMPAIGN else 1
BCRYPT_COST = 12 if IS_CAMPAIGN else 4
LIVEZ_SECONDS, LOGIN_SECONDS = (0.2, 1.5) if IS_CAMPAIGN else (1.0, 3.0)
LIVEZ_TIMES, LOGIN_TIMES = (100, 20) if IS_CAMPAIGN else (20, 5)
PERCENT = 95 if IS_CAMPAIGN else 50
"""With few samples the median, because other tests may delay some of them."""

LINGER_SECONDS = 5
LARGE_BYTES = 24 * 1024 * 1024
NAMES = [attack.name for attack in attacks("", "/")]
MEBIBYTE = 1024 * 1024


@dataclass(frozen=True)
class Scene:
    """A server, a user, and a large file of theirs."""

    server: Server
    alice: Client
    large_file: str

    @property
    def port(self) -> int:
        return int(self.server.url.rpartition(":")[2])

    def attacks(self) -> list[Attack]:
        return attacks(self.alice.token or "", self.large_file)

    def attack(self, name: str) -> Attack:
        return next(attack for attack in self.attacks() if attack.name == name)


@contextlib.contextmanager
def serving_scene(folder: Path, grace_seconds: int, *more: Table) -> Iterator[Scene]:
    """Run a server with a user and a large file."""
    changes = {
        "server": {"threads": THREADS},
        "advanced": {"transfer_grace_seconds": grace_seconds},
        "passwords": {"bcrypt_cost": BCRYPT_COST},
        # Bodies that never arrive count as logins of this address, which all clients share here.
        **lifted("login_per_address"),
    }
    config = write_config(folder, f"sqlite:///{folder}/strongroom.sqlite3", changes, *more)
    with serving(config) as server:
        server.create_user("alice@example.com")
        alice = Client.logged_in(server.url, "alice@example.com")
        tenant = alice.make_tenant("Acme")
        node = alice.upload(tenant, "large.bin", os.urandom(LARGE_BYTES))
        yield Scene(server, alice, f"{tenant}/files/{node['id']}")


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with serving_scene(tmp_path_factory.mktemp("slow"), GRACE_SECONDS) as scene:
        yield scene


def require_short_requests(kind: str, visitor: Client) -> None:
    """Require that other clients are answered in time."""
    body = {"username": "alice@example.com", "password": PASSWORD}
    livez = percentile(lambda: visitor.expect(200, "GET", "/livez"), LIVEZ_TIMES, PERCENT)
    login = percentile(
        lambda: visitor.expect(200, "POST", "/authorizations", body), LOGIN_TIMES, PERCENT
    )
    figures = f"livez p{PERCENT} {livez * 1000:.0f} ms, login p{PERCENT} {login * 1000:.0f} ms"
    sys.stdout.write(f"{COUNT} x {kind}: {figures}\n")
    assert livez <= LIVEZ_SECONDS
    assert login <= LOGIN_SECONDS


@pytest.mark.parametrize("kind", NAMES)
def test_short_requests_are_answered_while_others_are_slow(scene: Scene, kind: str) -> None:
    with attacking(scene.attack(kind), scene.port, COUNT):
        require_short_requests(kind, Client(scene.server.url))


def test_short_requests_are_answered_during_all_kinds_at_once(scene: Scene) -> None:
    with ExitStack() as stack:
        for attack in scene.attacks():
            stack.enter_context(attacking(attack, scene.port, COUNT))
        require_short_requests("every kind at once", Client(scene.server.url))


def test_connections_of_slow_clients_are_closed(scene: Scene) -> None:
    kinds = [attack for attack in scene.attacks() if IS_CAMPAIGN or attack.name != "half a header"]
    with ExitStack() as stack:
        hostile = [stack.enter_context(attacking(attack, scene.port, 4)) for attack in kinds]
        seconds = 60 + LINGER_SECONDS if IS_CAMPAIGN else 4 * GRACE_SECONDS + 2 * LINGER_SECONDS
        wait_until(lambda: sum(each.open_count() for each in hostile) == 0, seconds + SLACK_SECONDS)


def test_slow_bodies_take_no_more_memory_than_has_arrived(scene: Scene) -> None:
    size = 60 * 1024
    opening = half_sent("/authorizations", 64 * 1024, "Content-Type: application/json", body=b" " * size)
    with attacking(Attack("most of a body", opening), scene.port, 2 * COUNT):
        watch = MemoryWatch(scene.server)
        with attacking(Attack("most of a body", opening), scene.port, 2 * COUNT), watch.sampling():
            before = watch.now()
            Client(scene.server.url).expect(200, "GET", "/livez")
    assert watch.peak - before < 2 * COUNT * 4 * size + 16 * MEBIBYTE


def test_uploads_and_downloads_beyond_their_share_get_a_retry_after(tmp_path: Path) -> None:
    # The uploads must outlast the test, or the server has room again. Of two processes, one may accept
    # all connections of the attack, and the other the requests of the test.
    with serving_scene(tmp_path, 60, ONE_WORKER) as scene:
        attack = scene.attack("a trickling upload with a token")
        tenant = scene.large_file.rpartition("/files/")[0]
        send = functools.partial(scene.alice.send, tenant, "b.bin", b"x" * 70_000, 70_000)
        attack_again = functools.partial(attacking, attack, scene.port, THREADS)
        # The second time, the thread of the scene's own upload is free for certain.
        with attack_again() as some, attack_again() as others:
            # A request before the last of them is refused would take the place of one.
            refused = 2 * THREADS - Admission(THREADS).transfers_limit
            wait_until(lambda: some.answered_count() + others.answered_count() == refused)
            assert send().status == 503
        wait_until(lambda: send().status == 201)


@pytest.mark.skipif(not IS_CAMPAIGN, reason="takes minutes; see the module")
def test_short_requests_are_answered_behind_nginx(scene: Scene, tmp_path: Path) -> None:
    nginx = nginx_before(tmp_path, [scene.port, scene.port])
    visitor = Client(f"https://127.0.0.1:{nginx.port}", context=nginx.context())
    with nginx.running():
        for attack in scene.attacks():
            with attacking(attack, nginx.port, COUNT, nginx.context(), addresses=3):
                require_short_requests(f"{attack.name}, through nginx", visitor)


@pytest.mark.parametrize("path", ["/users/alice@example.com/reset-password", "/users"])
def test_a_flood_of_hashing_requests_leaves_short_requests_alone(scene: Scene, path: str) -> None:
    """Each client sends the next request once the last is answered."""
    code = {"id": "x", "code": "123456"}
    body: dict[str, Any] = {"verificationCode": code, "newPassword": "Vq7mTz49k"}
    if path == "/users":
        body = {
            "name": "X",
            "email": "x@example.com",
            "password": "Vq7mTz49k",
            "verificationCodes": [code],
        }
    stopped = threading.Event()

    def flood() -> None:
        while not stopped.is_set():
            with contextlib.suppress(OSError):
                Client(scene.server.url).request(
                    "POST", path, json.dumps(body).encode(), {"Content-Type": "application/json"}
                )

    threads = [threading.Thread(target=flood) for _ in range(COUNT)]
    for thread in threads:
        thread.start()
    try:
        require_short_requests(f"POST {path}", Client(scene.server.url))
    finally:
        stopped.set()
        for thread in threads:
            thread.join()
