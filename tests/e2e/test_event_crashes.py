"""A server that is killed between commits and deliveries: no event is lost, and the order is kept."""

import json
import os
import random
import threading
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.config import change_config
from tests.support.distributions import install
from tests.support.server import EMAIL, serving, write_config
from tests.support.waiting import wait_until

pytestmark = pytest.mark.extended

PLUGIN = """
import fcntl, json, os
from strongroom.activity.events import positions
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.events import EventSink

API_VERSION = "2.0"

class Journal(EventSink):
    name = "journal"
    types = ("file.*",)

    def deliver(self, events):
        lines = "".join(json.dumps([event.id, event.stream, event.sequence]) + "\\n" for event in events)
        with open({file!r}, "a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.write(lines)

# A killed process is succeeded at once, not after half a minute.
positions.Positions.__init__.__defaults__ = (500,)

@hookimpl
def register_event_sinks():
    return [Journal()]
"""


def delivered(journal: Path) -> list[tuple[str, str, int]]:
    """Return the complete lines of the journal."""
    lines = journal.read_text().split("\n")[:-1] if journal.exists() else []
    return [tuple(json.loads(line)) for line in lines]


def keep_uploading(url: str, tenants: list[str], token: str, prefix: str) -> int:
    """Upload files until the server is killed; return the number of answered uploads."""
    client, done = Client(url, token), 0
    try:
        while True:
            client.upload(tenants[done % len(tenants)], f"{prefix}-{done}", b"x")
            done += 1
    except (OSError, HTTPException, AssertionError):
        return done


def test_killed_servers_lose_no_event_and_keep_the_order(
    tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = tmp_path / "journal"
    install(tmp_path, "journal_sink", PLUGIN.format(file=str(journal)))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    config = write_config(tmp_path, database_url, {"server": {"workers": 2}})
    change_config(config, {"plugins": {"enabled": ["storage_local", "journal_sink"]}})
    tenants: list[str] = []
    answered = 0
    for round_number in range(campaign_size("EVENT_KILLS", 2)):
        with serving(config) as server:
            if not tenants:
                server.create_user(EMAIL)
            client = Client.logged_in(server.url, EMAIL)
            tenants = tenants or [client.make_tenant(name) for name in ("One", "Two")]
            assert client.token is not None
            killer = threading.Timer(random.uniform(0.05, 0.5), server.kill)
            killer.start()
            answered += keep_uploading(server.url, tenants, client.token, str(round_number))
            killer.join()
    with serving(config) as server:
        client = Client.logged_in(server.url, EMAIL)
        committed = {
            (tenant.rpartition("/")[2], record["sequence"])
            for tenant in tenants
            for record in changes(client, tenant)
        }
        assert len(committed) >= answered
        wait_until(lambda: {(stream, number) for _, stream, number in delivered(journal)} >= committed)
    found = delivered(journal)
    # Nothing that was not committed, and repeated events have the same id.
    assert {(stream, number) for _, stream, number in found} == committed
    assert len({event_id for event_id, *_ in found}) == len(committed)
    for tenant in tenants:
        first_times = dict.fromkeys(n for _, stream, n in found if stream == tenant.rpartition("/")[2])
        assert list(first_times) == sorted(first_times)


def changes(client: Client, tenant: str) -> list[dict[str, int]]:
    found: list[dict[str, int]] = []
    while True:
        page = client.expect(200, "GET", f"{tenant}/changes?pageSize=200&cursor={len(found)}").json()
        found += page["data"]
        if not page["meta"]["hasMore"]:
            return found
