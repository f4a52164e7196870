"""Idempotency-Key after all processes of a server were killed: a repeated POST makes no second resource.

The client knows what a status means: 201 is the first answer, 409 ``error.idempotency-unknown`` is
"look, and take a new key". So each name exists once in the end.
"""

import json
import random
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import update

from strongroom.foundation.idempotency import idempotency_keys
from tests.e2e.offline import services
from tests.support.campaign import campaign_size
from tests.support.client import PASSWORD, Client, Json, Response
from tests.support.config import lifted, read_toml
from tests.support.databases import on_postgresql
from tests.support.server import Server, serving
from tests.support.waiting import wait_until

ROUNDS = campaign_size("KILL_ROUNDS", 2)
ADMINISTRATOR = "root@example.com"
PATIENCE = 120
RUNNING, UNKNOWN = "error.idempotency-running", "error.idempotency-unknown"

pytestmark = [
    pytest.mark.extended,
    pytest.mark.config(
        lifted(),
        {
            "server": {"workers": 2},
            "tokens": {"lifetime_seconds": 3600},
            "plugins": {
                "enabled": ["storage_local", "share_links", "webhooks"],
                "webhooks": {"allow_hosts": ["192.0.2.1:443"]},
            },
        },
    ),
]


@dataclass(frozen=True)
class Kind:
    """A kind of resource: what a POST sends, where its list is, and where the list has the name."""

    path: str
    body: Callable[[str], Json]
    name: str = "name"
    listed: str = ""

    def request(self, name: str) -> tuple[str, bytes, dict[str, str]]:
        """Return path, body and headers of the request that makes a resource of this name."""
        return self.path, json.dumps(self.body(name)).encode(), {"Content-Type": "application/json"}

    @property
    def list_path(self) -> str:
        return self.listed or self.path


class FileKind(Kind):
    """A file, whose body is its content."""

    def request(self, name: str) -> tuple[str, bytes, dict[str, str]]:
        disposition = f'attachment; filename="{name}"'
        headers = {"Content-Disposition": disposition, "Content-Type": "application/octet-stream"}
        return f"{self.path}?onConflict=rename", name.encode() * 1000, headers


def kinds_of(client: Client) -> dict[str, Kind]:
    """Return the kinds for a new tenant; those of the plugins are ``share`` and ``webhook``."""
    tenant = client.make_tenant("kills")
    shared = client.expect(201, "POST", f"{tenant}/folders", {"name": "shared"}).json()["id"]
    top = f"{tenant}/owners/me/files"
    scopes = {"scopes": ["files:read"]}
    hook = {"url": "https://192.0.2.1/", "eventTypes": ["user.*"]}
    return {
        "tenant": Kind("/api/v1/tenants", lambda name: {"name": name}),
        "folder": Kind(f"{tenant}/folders", lambda name: {"name": name}, listed=top),
        "file": FileKind(f"{tenant}/files", lambda _: {}, listed=top),
        "group": Kind(f"{tenant}/groups", lambda name: {"name": name}),
        "service account": Kind(f"{tenant}/service-accounts", lambda name: {"name": name}),
        "access key": Kind("/users/me/access-keys", lambda name: {"name": name, **scopes}),
        "invitation": Kind(
            f"{tenant}/invitations", lambda name: {"email": f"{name}@example.com"}, name="email"
        ),
        "share": Kind(
            f"{tenant}/files/{shared}/shares", lambda name: {"kind": "read", "label": name}, "label"
        ),
        "webhook": Kind(
            "/api/v1/webhook-endpoints", lambda name: {**hook, "description": name}, "description"
        ),
    }


@dataclass
class Creation:
    """A resource that a client wants once, and the answer of the first request if one arrived."""

    kind: Kind
    name: str
    answer: Response | None = None

    def send(self, client: Client, key: str = "") -> Response:
        """Send the request with its key, or with another one."""
        path, body, headers = self.kind.request(self.name)
        sent = {"X-Current-Password": PASSWORD, "Idempotency-Key": key or self.name, **headers}
        return client.request("POST", path, body, sent)

    def number(self, client: Client) -> int:
        """Return how many resources of this name exist; those that were renamed count as well."""
        names = [str(item[self.kind.name]) for item in items(client, self.kind.list_path)]
        return sum(
            name == self.name or name.startswith((f"{self.name} (", f"{self.name}@")) for name in names
        )


def items(client: Client, path: str) -> Iterator[Json]:
    for page in count(1):
        listing = client.expect(200, "GET", f"{path}?pageSize=200&pageNumber={page}").json()
        yield from listing["data"]
        if page * 200 >= listing["meta"]["totalCount"]:
            return


def code_of(answer: Response) -> str:
    return str(answer.json()["error"]["code"]) if answer.status != 201 else "created"


@dataclass
class Storm:
    """Clients that create until their server dies, each resources of its own kind."""

    client: Client
    kinds: dict[str, Kind]
    prefix: str
    creations: list[Creation] = field(default_factory=list)
    _answered: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))

    def rage(self, server: Server, *, kill_after: int) -> None:
        """Create, and kill the server after so many answers."""
        with ThreadPoolExecutor(len(self.kinds)) as pool:
            work = [pool.submit(self._create, kind) for kind in self.kinds]
            for _ in range(kill_after):
                assert self._answered.acquire(timeout=PATIENCE)
            server.kill()
        for one in work:
            one.result()

    def _create(self, kind: str) -> None:
        for number in count():
            name = f"{self.prefix}-{kind.replace(' ', '-')}-{number}"
            creation = Creation(self.kinds[kind], name)
            self.creations.append(creation)
            try:
                creation.answer = creation.send(self.client)
            except (OSError, HTTPException):
                return
            assert creation.answer.status == 201, creation.answer.content
            self._answered.release()


def end_leases(config: Path) -> None:
    """End the minute in which a killed request counts as running."""
    with services(config) as container, container.database.write() as connection:
        connection.execute(update(idempotency_keys).values(lease_until=0))


def repeat(client: Client, creations: list[Creation]) -> Counter[str]:
    """Repeat all requests with their keys, and return how the unanswered ones were answered."""
    seen: Counter[str] = Counter()
    for creation in creations:
        again = creation.send(client)
        if creation.answer is not None:
            assert (again.status, again.content) == (201, creation.answer.content), creation
        else:
            seen[code_of(again)] += 1
    return seen


def settle(client: Client, creations: list[Creation]) -> None:
    """Do what a client does: look after an unknown outcome, and take a new key if there is nothing."""
    for creation in creations:
        again = creation.send(client)
        if code_of(again) == UNKNOWN and not creation.number(client):
            again = creation.send(client, f"{creation.name}-again")
        assert code_of(again) in ("created", UNKNOWN), again.content
        assert creation.number(client) == 1, creation


def delete_all(client: Client, path: str) -> None:
    """Delete resources of which a server or a user has a maximum."""
    for item in list(items(client, path)):
        client.expect(200, "DELETE", f"{path}/{item['id']}")


@pytest.fixture
def prepared(server_config: Path) -> Path:
    """The configuration of a server with an administrator."""
    with serving(server_config) as server:
        server.create_user(ADMINISTRATOR, PASSWORD, "--admin")
    return server_config


def test_random_kills_make_nothing_twice(prepared: Path) -> None:
    choose, seen, total = random.Random(35), Counter[str](), 0
    for round_number in range(ROUNDS):
        with serving(prepared) as server:
            client = Client.logged_in(server.url, ADMINISTRATOR)
            storm = Storm(client, kinds_of(client), f"r{round_number}")
            storm.rage(server, kill_after=choose.randrange(1, 40))
        with serving(prepared):
            seen["before the lease ended"] += repeat(client, storm.creations)[RUNNING]
            end_leases(prepared)
            seen += repeat(client, storm.creations)
            settle(client, storm.creations)
            for kind in ("webhook", "access key"):
                delete_all(client, storm.kinds[kind].path)
            total += len(storm.creations)
        assert sum(creation.answer is None for creation in storm.creations) == len(storm.kinds)
    sys.stderr.write(f"{ROUNDS} kills, {total} creations, each once; unanswered: {dict(seen)}\n")


# Blocks the update of a key's row: the first one is in the transaction of the resource, the second one
# stores the answer.
TRIGGER = """
CREATE FUNCTION wait() RETURNS trigger AS $$ BEGIN
    PERFORM pg_advisory_xact_lock_shared(35);
    RETURN NEW;
END $$ LANGUAGE plpgsql;
CREATE TRIGGER wait BEFORE UPDATE ON idempotency_keys
    FOR EACH ROW WHEN (%s) EXECUTE FUNCTION wait();
"""
POINTS = {
    # Some wait for a row that another one has changed, such as the usage of the tenant.
    "in the transaction": (
        "NOT OLD.has_effect",
        "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
        {"created"},
    ),
    "before the answer is stored": (
        "NEW.sealed <> OLD.sealed",
        # The server has other locks, and other databases, which tests that run meanwhile use.
        (
            "pg_locks JOIN pg_database ON pg_database.oid = database AND datname = current_database() "
            "WHERE locktype = 'advisory' AND objid = 35 AND NOT granted"
        ),
        {UNKNOWN},
    ),
}


@pytest.fixture
def blocked(prepared: Path) -> Callable[[str, str], Any]:
    """Lets requests wait in the database at a point, and returns once so many of them do."""
    url = read_toml(prepared)["database"]["url"].replace("+psycopg", "")

    @contextmanager
    def block(condition: str, waiting: str) -> Iterator[Callable[[int], None]]:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute((TRIGGER % condition).encode())
            connection.execute("SELECT pg_advisory_lock(35)")

            def wait_for(number: int) -> None:
                query = f"SELECT count(*) FROM {waiting}".encode()
                wait_until(lambda: connection.execute(query).fetchone() == (number,))

            yield wait_for
            connection.execute("DROP FUNCTION wait CASCADE")

    return block


@on_postgresql
@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_a_point_makes_nothing_twice(
    prepared: Path, blocked: Callable[[str, str], Any], point: str
) -> None:
    condition, waiting, outcomes = POINTS[point]
    with serving(prepared) as server:
        client = Client.logged_in(server.url, ADMINISTRATOR)
        creations = [
            Creation(kind, f"p-{name}".replace(" ", "-")) for name, kind in kinds_of(client).items()
        ]
        with blocked(condition, waiting) as wait_for, ThreadPoolExecutor(len(creations)) as pool:
            sent = [pool.submit(creation.send, client) for creation in creations]
            wait_for(len(creations))
            server.kill()
            assert all(isinstance(one.exception(), OSError | HTTPException) for one in sent)
    with serving(prepared):
        assert repeat(client, creations) == {RUNNING: len(creations)}
        end_leases(prepared)
        seen = repeat(client, creations)
        assert seen.keys() == outcomes, seen
        settle(client, creations)
