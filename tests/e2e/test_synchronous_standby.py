"""A PostgreSQL whose commits wait for a synchronous standby, which is lost."""

import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from tests.e2e.cluster import EMAIL
from tests.support.client import Client
from tests.support.config import lifted
from tests.support.replicas import Pair
from tests.support.server import serving, write_config
from tests.support.waiting import SLACK_SECONDS, wait_until

CHANGES = 20
"""More than a worker has threads."""
NOTE = "A synchronous standby is unavailable: writes wait for it."


@pytest.mark.extended
def test_reads_do_not_wait_for_a_standby(tmp_path: Path) -> None:
    with Pair.serving() as pair:
        url = pair.create("site")
        config = write_config(
            tmp_path, url, lifted("login_per_address"), {"database": {"timeout_seconds": 4}}
        )
        pair.require_standby()
        with serving(config, tmp_path / "output") as server:
            server.create_user(EMAIL)
            user = Client.logged_in(server.url, EMAIL)
            tenant = user.make_tenant("site")
            reads = list(reads_of(user, tenant, user.upload(tenant, "a.txt", b"content")["id"]))
            assert NOTE not in user.expect(200, "GET", "/readyz").content.decode()
            pair.stop_standby()
            wait_until(lambda: NOTE in user.request("GET", "/readyz").content.decode())
            # The next request is the first since long, so it records when the login was last seen.
            forget_uses(url)
            assert {"/users/me", tenant} < set(reads)
            for path in reads:
                began = time.monotonic()
                status = user.request("GET", path).status
                assert status != 503, path
                assert time.monotonic() - began < 1 + SLACK_SECONDS, path
            user.expect(503, "POST", "/api/v1/tenants", {"name": "other"})
            pair.release_standby()
            wait_until(lambda: NOTE not in user.request("GET", "/readyz").content.decode())


def reads_of(user: Client, tenant: str, file_id: str) -> Iterator[str]:
    """Yield the paths of all routes that read, with ids that exist where there are such."""
    known = {"tenantId": tenant.rpartition("/")[2], "userId": "me", "fileId": file_id}
    document = user.expect(200, "GET", "/openapi.json").json()
    for path, operations in document["paths"].items():
        if "get" in operations:
            yield re.sub(r"\{(\w+)\}", lambda match: known.get(match[1], file_id), path)


def forget_uses(url: str) -> None:
    """Set when logins were last seen to long ago."""
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        connection.execute("SET LOCAL synchronous_commit = off")
        connection.execute("UPDATE authorizations SET last_seen_at = 1")


@pytest.mark.extended
def test_changes_that_wait_for_a_standby_leave_threads_to_reads(tmp_path: Path) -> None:
    with Pair.serving() as pair:
        url = pair.create("site")
        pair.require_standby()
        own = {"server": {"workers": 1}, "database": {"timeout_seconds": 30}}
        with serving(write_config(tmp_path, url, own), tmp_path / "output") as server:
            server.create_user(EMAIL)
            user = Client.logged_in(server.url, EMAIL)
            tenant = user.make_tenant("site")
            pair.freeze_standby()
            with ThreadPoolExecutor(CHANGES) as pool:
                changes = [pool.submit(create_folder, user, tenant, n) for n in range(CHANGES)]
                began = time.monotonic()
                user.expect(200, "GET", tenant)
                statuses = {change.result() for change in changes}
                waited = time.monotonic() - began
            user.expect(503, "POST", f"{tenant}/folders", {"name": "later"})
            pair.thaw_standby()
            wait_until(lambda: create_folder(user, tenant, CHANGES) == 201)
    assert statuses == {503}
    assert waited < 8 + SLACK_SECONDS


def create_folder(user: Client, tenant: str, number: int) -> int:
    """Try to create a folder, and return the status."""
    body = json.dumps({"name": f"folder {number}"}).encode()
    headers = {"Content-Type": "application/json"}
    return user.request("POST", f"{tenant}/folders", body, headers).status
