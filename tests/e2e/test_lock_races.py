"""Locks hold at all workers of all nodes while they are taken, and end in time after a kill."""

import base64
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import pytest

from tests.e2e.cluster import Postgresql
from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.http import Caller, Reply, at_once
from tests.support.server import Server, serving, serving_nodes, write_config
from tests.support.waiting import wait_until

WORKERS: Final = {"server": {"workers": 4}, "tokens": {"lifetime_seconds": 3600}}
WRITERS: Final = 16
ROUNDS: Final = campaign_size("LOCK_ROUNDS", 5)
KILLS: Final = campaign_size("LOCK_KILLS", 3)
LOCKED: Final = "error.file-locked"
BUSY: Final = {"error.unavailable"}
"""A slow machine refuses changes that would wait too long for the changes before them."""

pytestmark = pytest.mark.extended

Send = Callable[[Caller], Reply]
State = tuple[str, int, int]


@dataclass
class Desk:
    """A folder with another one in it, which one user locks while the same user changes it."""

    callers: list[Caller]
    tenant: str
    folder: str
    inner: str
    made: int = 0

    @classmethod
    def at(cls, servers: list[Server]) -> "Desk":
        servers[0].create_user("alice@example.com")
        client = Client.logged_in(servers[0].url, "alice@example.com")
        tenant = client.make_tenant("Acme")
        folder = client.expect(201, "POST", f"{tenant}/folders", {"name": "desk"}).json()["id"]
        below = f"{tenant}/files/{folder}/folders"
        inner = client.expect(201, "POST", below, {"name": "inner"}).json()["id"]
        headers = {"Authorization": f"Bearer {client.token}"}
        return cls([Caller(server.url, headers) for server in servers], tenant, folder, inner)

    @property
    def locks(self) -> str:
        return f"{self.tenant}/files/{self.folder}/locks"

    def lock(self, **body: Any) -> Reply:
        return self.callers[0].send("POST", self.locks, body)

    def release(self, lock: str) -> Reply:
        return self.callers[0].send("DELETE", f"{self.locks}/{lock}")

    def is_free(self) -> bool:
        return self.changes()[0](self.callers[0]).status == 200

    def changes(self) -> list[Send]:
        """Return changes on four routes, with names that are free."""
        self.made += 1
        files, new = f"{self.tenant}/files", f"new {self.made}"
        copy = {"operation": "copy", "fileId": self.inner, "parentId": self.folder, "name": f"{new} b"}
        metadata = {"filename": f"{new} t", "parentId": self.folder}
        upload = {
            "Tus_Resumable": "1.0.0",
            "Upload_Length": "0",
            "Upload_Metadata": ",".join(f"{name} {_base64(text)}" for name, text in metadata.items()),
        }
        return [
            lambda by: by.send("PATCH", f"{files}/{self.inner}", {"name": f"{new} r"}),
            lambda by: by.send("POST", f"{files}/{self.folder}/folders", {"name": f"{new} f"}),
            lambda by: by.send("POST", f"{self.tenant}/files-batches", {"items": [copy]}),
            lambda by: by.send("POST", f"{self.tenant}/uploads", **upload),
        ]

    def lock_and_look(self) -> tuple[Reply, State]:
        """Take the lock, and read at once what nothing may change from then on."""
        return self.lock(), self.state()

    def write_at_once(self, first: Callable[[], Any] = lambda: None) -> tuple[Any, list[Reply]]:
        """Send changes to all nodes while ``first`` runs; return its result, and the answers."""
        callers, sends = cycle(self.callers), list[Send]()
        while len(sends) < WRITERS:
            sends += self.changes()
        writes: list[Callable[[], Any]] = [partial(send, next(callers)) for send in sends]
        result, *replies = at_once([first, *writes])
        return result, replies

    def state(self) -> State:
        """Return the name and revision of the inner folder, and the number of children of the outer."""
        reply = self.callers[0].send("GET", f"{self.tenant}/files/{self.inner}").json
        listing = f"{self.tenant}/owners/me/files/{self.folder}/files?pageSize=1"
        total = self.callers[0].send("GET", listing).json["meta"]["totalCount"]
        return reply["name"], reply["revision"], total


def _base64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@contextmanager
def sqlite_servers(folder: Path) -> Iterator[list[Server]]:
    config = write_config(folder, f"sqlite:///{folder}/strongroom.db", WORKERS)
    with serving(config) as server:
        yield [server]


@contextmanager
def postgresql_nodes(folder: Path) -> Iterator[list[Server]]:
    postgresql = Postgresql(folder)
    try:
        with serving_nodes(folder, postgresql.create(), WORKERS) as nodes:
            yield list(nodes)
    finally:
        postgresql.close()


@pytest.fixture(params=[sqlite_servers, postgresql_nodes])
def desk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Desk]:
    with request.param(tmp_path) as servers:
        yield Desk.at(servers)


def test_no_change_passes_a_lock(desk: Desk) -> None:
    outcomes: Counter[int] = Counter()
    for _ in range(ROUNDS):
        # The lock is taken amid changes: some come before it, and none after it.
        (taken, state), answers = desk.write_at_once(desk.lock_and_look)
        assert taken.status == 201, taken
        outcomes.update(reply.status for reply in answers)
        _, refused = desk.write_at_once()
        assert {reply.json["error"]["code"] for reply in refused} - BUSY == {LOCKED}, refused
        assert desk.state() == state
        by_holder = Caller(
            desk.callers[-1].url, {**desk.callers[-1].headers, "Lock-Token": taken.json["id"]}
        )
        assert {change(by_holder).status for change in desk.changes()} <= {200, 201}
        # It is released amid changes: some may come after it.
        released, answers = desk.write_at_once(partial(desk.release, taken.json["id"]))
        assert released.status == 200, released
        outcomes.update(reply.status for reply in answers)
        assert {reply.status for reply in desk.write_at_once()[1]} <= {200, 201, 503}
    assert outcomes.keys() <= {200, 201, 423, 503}, outcomes
    assert outcomes[423] > 0


def test_a_lock_ends_in_time_after_its_server_was_killed(tmp_path: Path) -> None:
    config = write_config(tmp_path, f"sqlite:///{tmp_path}/strongroom.db", WORKERS)
    desk: Desk | None = None
    for _ in range(KILLS):
        with serving(config) as server:
            desk = desk or Desk.at([server])
            assert desk.lock(seconds=1000).status == 201
            server.kill()
        with serving(config) as server:
            (lock,) = desk.callers[0].send("GET", desk.locks).json["data"]
            assert {change(desk.callers[0]).status for change in desk.changes()} == {423}
            renewed = desk.callers[0].send("PATCH", f"{desk.locks}/{lock['id']}", {"seconds": 1})
            assert renewed.status == 200, renewed
            server.kill()
        with serving(config):
            wait_until(desk.is_free)
            assert desk.callers[0].send("GET", desk.locks).json["data"] == []
