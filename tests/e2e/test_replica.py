"""Two nodes with a real streaming standby that answers lists: paused, killed, and wrong."""

import json
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from strongroom.testing.server import free_port
from tests.support.client import PASSWORD, Client
from tests.support.commands import run_command
from tests.support.config import change_config, lifted
from tests.support.replicas import Pair
from tests.support.server import NODE, copy_config, serving, write_config
from tests.support.waiting import wait_until

ADMIN, MEMBER = "admin@example.com", "member@example.com"
NOTE = "It does not answer. The primary answers its reads."
KILLED_UNDER = 300
"""Lists that are read around the end of the standby."""


@dataclass
class Site:
    """Two nodes of a server, its administrator at the first one, and a member at the second one."""

    pair: Pair
    url: str
    admin: Client
    member: Client
    tenant: str
    metrics: Client

    def names(self) -> set[str]:
        """Return the names that the member sees, at the second node."""
        return {node["name"] for node in self.member.files(self.tenant)}

    def answered(self, server: str) -> float:
        """Return how many reads one of the two PostgreSQL servers has answered at the second node."""
        text = self.metrics.expect(200, "GET", "/metrics").content.decode()
        lines = [
            line for line in text.splitlines() if f'replica_reads_total{{server="{server}"}}' in line
        ]
        return float(lines[0].rpartition(" ")[2]) if lines else 0.0


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    management = free_port()
    with ExitStack() as stack:
        pair = stack.enter_context(Pair.serving())
        url = pair.create("site")
        replica = {"database": {"replica_url": pair.standby_url(url)}}
        first = write_config(tmp_path, url, NODE, lifted("login_per_address"), replica)
        second = copy_config(first, "second.toml")
        change_config(second, {"management": {"port": management}})
        nodes = [stack.enter_context(serving(config)) for config in (first, second)]
        nodes[0].create_user(ADMIN, PASSWORD, "--admin")
        user = nodes[0].create_user(MEMBER, PASSWORD)
        admin = Client.logged_in(nodes[0].url, ADMIN)
        member = Client.logged_in(nodes[0].url, MEMBER)
        tenant = admin.make_tenant("site")
        admin.expect(200, "PUT", f"{tenant}/members/{user['id']}", {"role": "member"})
        member = Client(nodes[1].url, member.token)
        yield Site(pair, url, admin, member, tenant, Client(f"http://127.0.0.1:{management}"))


def test_lists_are_of_the_standby_and_never_older_than_what_was_answered(site: Site) -> None:
    user_id = site.member.expect(200, "GET", "/users/me").json()["id"]
    folder = site.admin.expect(201, "POST", f"{site.tenant}/folders", {"name": "secret"}).json()
    owners = f"{site.tenant}/files/{folder['id']}/owners"
    grant = {"ownerId": user_id, "permission": "read"}
    for _ in range(10):
        site.admin.expect(201, "POST", owners, grant)
        assert "secret" in site.names()
        site.admin.expect(200, "DELETE", f"{owners}/{user_id}")
        assert "secret" not in site.names()
    assert site.answered("replica") > site.answered("primary")
    # Changes are received and not replayed: only the primary knows them.
    site.admin.expect(201, "POST", owners, grant)
    assert "secret" in site.names()
    site.pair.execute_on_standby("SELECT pg_wal_replay_pause()")
    site.admin.expect(200, "DELETE", f"{owners}/{user_id}")
    assert "secret" not in site.names()
    site.admin.upload(site.tenant, "own.txt", b"content")
    listing = site.admin.expect(200, "GET", f"{site.tenant}/owners/me/files?pageSize=200").json()
    assert "own.txt" in {node["name"] for node in listing["data"]}
    before = site.answered("replica")
    site.names()
    assert site.answered("replica") == before
    site.pair.execute_on_standby("SELECT pg_wal_replay_resume()")

    def is_of_replica() -> bool:
        site.names()
        return site.answered("replica") > before

    wait_until(is_of_replica)


def test_no_request_fails_when_the_standby_is_killed(site: Site, tmp_path: Path) -> None:
    statuses: list[int] = []
    paths = [
        f"{site.tenant}/owners/me/files",
        f"{site.tenant}/members",
        f"{site.tenant}/search?query=own.txt",
    ]

    def read() -> None:
        for path in paths * (KILLED_UNDER // len(paths)):
            statuses.append(site.member.request("GET", path).status)  # noqa: PERF401  one by one

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_until(lambda: len(statuses) > KILLED_UNDER)
    site.pair.stop_standby()
    for thread in threads:
        thread.join()
    assert set(statuses) == {200}, {status: statuses.count(status) for status in set(statuses)}
    assert statuses.count(200) > KILLED_UNDER
    wait_until(lambda: NOTE in site.member.expect(200, "GET", "/readyz").content.decode())
    check = run_command("--config", str(tmp_path / "strongroom.toml"), "config", "check")
    assert check.returncode == 3
    assert "database.replica_url: PostgreSQL at " in check.stderr + check.stdout
    finding = _finding(tmp_path / "strongroom.toml")
    assert "the replica does not answer: " in finding["message"]


def test_a_replica_that_is_no_standby_is_named(tmp_path: Path) -> None:
    with Pair.serving() as pair:
        url = pair.create("site")
        config = write_config(tmp_path, url, {"database": {"replica_url": url}})
        check = run_command("--config", str(config), "config", "check")
        assert check.returncode == 3
        assert "database.replica_url: is no standby; name a streaming standby" in check.stderr
        message = "the replica is no standby, so the primary answers its reads"
        assert _finding(config)["message"] == message


def _finding(config: Path) -> dict[str, str]:
    result = run_command("--config", str(config), "doctor", "--json")
    (finding,) = [item for item in json.loads(result.stdout) if item["part"] == "database.replica_url"]
    return dict(finding)
