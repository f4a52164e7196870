"""Two servers are killed during audited changes: no event is lost or doubled, and the chain is valid."""

import json
import random
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path

import pytest

from tests.support.campaign import campaign_size
from tests.support.client import Client
from tests.support.databases import on_postgresql
from tests.support.server import EMAIL, NODE, Server, copy_config, serving, write_config

pytestmark = pytest.mark.extended

WRITERS = 4


def keep_changing(client: Client, prefix: str) -> list[str]:
    """Create tenants, each an audit event, until the server is killed; return the answered ones."""
    answered: list[str] = []
    try:
        while True:
            answered.append(client.make_tenant(f"{prefix}-{len(answered)}").rpartition("/")[2])
    except (OSError, HTTPException, AssertionError):
        return answered


def change_until_killed(servers: tuple[Server, Server], clients: list[Client], name: str) -> list[str]:
    killers = [threading.Timer(random.uniform(0.5, 1.5), server.kill) for server in servers]
    for killer in killers:
        killer.start()
    with ThreadPoolExecutor(2 * WRITERS) as pool:
        turns = [pool.submit(keep_changing, client, name) for client in clients * WRITERS]
        answered = [tenant for turn in turns for tenant in turn.result()]
    for killer in killers:
        killer.join()
    return answered


@on_postgresql
def test_killed_servers_lose_no_audit_event(tmp_path: Path, database_url: str) -> None:
    first = write_config(tmp_path, database_url, NODE)
    second = copy_config(first, "second.toml")
    answered: list[str] = []
    link = ""
    for number in range(campaign_size("AUDIT_KILLS", 2)):
        with serving(first) as one, serving(second) as other:
            if not number:
                one.create_user(EMAIL, "Correct1Horse", "--admin")
            clients = [Client.logged_in(server.url, EMAIL) for server in (one, other)]
            answered += change_until_killed((one, other), clients, str(number))
        expected = ["--expect", link] if link else []
        verified = json.loads(one.command("audit", "verify", "--json", *expected))
        link = verified["newest"]
    exported = one.command("audit", "export").splitlines()[1:-1]
    created = [
        record["target_id"]
        for record in map(json.loads, exported)
        if record["action"] == "tenant.create"
    ]
    assert len(exported) == verified["records"]
    assert answered
    assert len(created) == len(set(created))
    assert set(answered) <= set(created)
    assert set(created) == tenants_of(first)


def tenants_of(config: Path) -> set[str]:
    """Return the ids of all tenants that were committed."""
    with serving(config) as server:
        client, found, page = Client.logged_in(server.url, EMAIL), set[str](), 1
        while True:
            path = f"/api/v1/tenants?pageSize=200&pageNumber={page}"
            listing = client.expect(200, "GET", path).json()
            found |= {tenant["id"] for tenant in listing["data"]}
            page += 1
            if not listing["data"] or len(found) >= listing["meta"]["totalCount"]:
                return found
