"""Changes on PostgreSQL with one, two and four processes, while commits take long.

A commit waits for its disk, or for a synchronous standby. What several changes lock until their commits
then limits their number per second, whatever the number of processes.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Final

from tests.support.databases import PostgresqlDatabases

from bench.forms import raw_headers
from bench.harness import Limit, Plan, Row, interleave
from bench.load import MakeRequest, build_request, generate
from bench.servers import HOST, Server, strongroom
from strongroom.testing.server import LiveServer, LiveUser

PROCESSES: Final = (1, 2, 4)
WRITERS: Final = 4
"""Clients for each process."""

COMMIT_MILLISECONDS: Final = 50
"""As of a distant standby: long enough for the waits, and not the processors, to limit the changes."""

_CONTENT: Final = b"x" * 1024

Kinds = Mapping[str, MakeRequest]


def measure(plan: Plan) -> list[Row]:
    """Measure the changes per second of four clients for each process, compared with one process."""
    # Not below a folder of ours: run as root, PostgreSQL is another user's.
    with (
        tempfile.TemporaryDirectory(prefix="strongroom-bench-") as name,
        tempfile.TemporaryDirectory() as folder,
        ExitStack() as stack,
    ):
        databases = PostgresqlDatabases(Path(name))
        stack.callback(databases.stop)
        url = stack.enter_context(databases.create())
        servers = [_serve(stack, Path(folder), url, workers) for workers in PROCESSES]
        kinds = _kinds(servers[0])
        _delay_commits(databases)
        return [row for kind, request in kinds.items() for row in _compare(plan, kind, servers, request)]


def _delay_commits(databases: PostgresqlDatabases) -> None:
    for setting in ("fsync = on", f"commit_delay = {COMMIT_MILLISECONDS * 1000}", "commit_siblings = 0"):
        databases.execute(f"ALTER SYSTEM SET {setting}")
    databases.execute("SELECT pg_reload_conf()")


def _serve(stack: ExitStack, folder: Path, url: str, workers: int) -> Server:
    # Together, no more connections than PostgreSQL accepts.
    database = f'[database]\nurl = "{url}"\npool_size = 8\n'
    # Tokens of one node are valid at all, because they have the same public URL.
    variables = {"STRONGROOM__SERVER__PUBLIC_URL": f"http://{HOST}"}
    node = strongroom(folder, database, workers=workers, variables=variables, node=f"node{workers}")
    return stack.enter_context(node)


def _kinds(server: Server) -> Kinds:
    live = LiveServer(f"http://{HOST}:{server.port}", server.config.parent, server.config, Path())
    users = [live.user() for _ in range(WRITERS * PROCESSES[-1])]
    tenants = [(user, live.tenant(user)) for user in users]
    names = count()
    audited, uploads = _changes_of(users), _uploads(tenants, names)
    return {
        "audited changes of different users": audited,
        "uploads to different tenants": uploads,
        "uploads to one tenant": _uploads(tenants[:1], names),
        "audited changes and uploads in turn": _in_turn(audited, uploads),
    }


def _in_turn(*requests: MakeRequest) -> MakeRequest:
    turns = cycle(requests)

    def make() -> bytes:
        return next(turns)()

    return make


def _changes_of(users: Sequence[LiveUser]) -> MakeRequest:
    """Return requests that change users: each is a record of the audit log."""
    numbers, turns = count(), cycle(users)

    def make() -> bytes:
        user, body = next(turns), json.dumps({"name": f"Name {next(numbers)}"}).encode()
        headers = {"Authorization": f"Bearer {user.token}", "Content-Type": "application/json"}
        return build_request("PATCH", f"/users/{user.id}", headers, body)

    return make


def _uploads(tenants: Sequence[tuple[LiveUser, str]], names: Iterator[int]) -> MakeRequest:
    turns = cycle(tenants)

    def make() -> bytes:
        user, tenant = next(turns)
        headers = {"Authorization": f"Bearer {user.token}", **raw_headers(f"{next(names)}.bin")}
        return build_request("POST", f"/api/v1/tenants/{tenant}/files", headers, _CONTENT)

    return make


def _compare(plan: Plan, kind: str, servers: Sequence[Server], request: MakeRequest) -> list[Row]:
    one, *others = interleave(
        plan.rounds,
        *(
            partial(generate, node, request, clients=WRITERS * workers, seconds=plan.seconds)
            for workers, node in zip(PROCESSES, servers, strict=True)
        ),
    )
    limit = Limit("1 process", [load.rate for load in one])
    return [
        Row(
            f"{kind}, {workers} processes, {WRITERS * workers} clients",
            "/s",
            [load.rate for load in loads],
            limit,
        )
        for workers, loads in zip(PROCESSES[1:], others, strict=True)
    ]
