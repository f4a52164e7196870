"""Clients that upload to one tenant at once, on PostgreSQL with the default time limit of statements.

The large run has ``STRONGROOM_TEST_TENANT_CLIENTS=32`` and ``STRONGROOM_TEST_TENANT_UPLOADS=50``; with
``pytest -s``, it prints the waits.
"""

import re
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import pytest

from strongroom.foundation.config.server_settings import DatabaseSettings
from strongroom.testing.server import free_port
from tests.support.campaign import campaign_size
from tests.support.client import PASSWORD, TIMEOUT
from tests.support.config import lifted
from tests.support.databases import PostgresqlDatabases
from tests.support.http import Caller, at_once
from tests.support.server import EMAIL, Server, serving, write_config

pytestmark = pytest.mark.extended

CLIENTS = campaign_size("TENANT_CLIENTS", 8)
UPLOADS = campaign_size("TENANT_UPLOADS", 4)
BUCKET = re.compile(r'strongroom_queue_wait_seconds_bucket\{le="(\S+)",queue="tenant"\} (\S+)')
MANAGEMENT_PORT = free_port()
LIMIT = DatabaseSettings().timeout_seconds


@pytest.fixture
def server(tmp_path: Path, postgresql_databases: PostgresqlDatabases) -> Iterator[Server]:
    """A server of two processes with the default time limit."""
    postgresql_databases.execute("CREATE DATABASE uploads")
    changes = {
        "server": {"workers": 2},
        "database": {"timeout_seconds": LIMIT},
        "management": {"port": MANAGEMENT_PORT},
    }
    config = write_config(tmp_path, postgresql_databases.url("uploads"), lifted(), changes)
    with serving(config) as server:
        server.create_user(EMAIL)
        yield server
    postgresql_databases.execute("DROP DATABASE uploads WITH (FORCE)")


def waits() -> dict[float, float]:
    """Return how many works of tenants waited at most so many seconds."""
    with urlopen(f"http://127.0.0.1:{MANAGEMENT_PORT}/metrics", timeout=TIMEOUT) as response:
        return {
            float(limit): float(number) for limit, number in BUCKET.findall(response.read().decode())
        }


def test_no_upload_to_a_tenant_is_refused_at_the_default_limit(server: Server) -> None:
    caller = Caller(server.url)
    login = caller.send("POST", "/authorizations", {"username": EMAIL, "password": PASSWORD})
    alice = caller.bearing(login.json["accessToken"])
    tenant = alice.send("POST", "/api/v1/tenants", {"name": "Acme"}).json["id"]

    def upload_all(client: int) -> list[int]:
        return [
            alice.send_text(
                "POST",
                f"/api/v1/tenants/{tenant}/files",
                "content",
                Content_Disposition=f'attachment; filename="{client}-{number}.txt"',
            ).status
            for number in range(UPLOADS)
        ]

    before = waits()[float("inf")]
    replies = at_once([partial(upload_all, client) for client in range(CLIENTS)])
    assert Counter(status for statuses in replies for status in statuses) == {201: CLIENTS * UPLOADS}
    after = waits()
    sys.stdout.write(f"waits by their longest seconds: {after}\n")
    assert after[float("inf")] - before >= CLIENTS * UPLOADS
    assert after[float(LIMIT)] == after[float("inf")]
