"""Several nodes are one server; the database, Redis and the store may fail and recover."""

import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.cluster import EMAIL, NGINX, Cluster, Load, running
from tests.support.client import PASSWORD, Client
from tests.support.http import at_once
from tests.support.waiting import SLACK_SECONDS

pytestmark = pytest.mark.extended

RECOVERY_SECONDS = 5.0 + SLACK_SECONDS
LOST = 0
"""The status of a request that was never answered."""

behind_nginx = pytest.mark.skipif(
    NGINX is None, reason="nginx is not installed: apt install nginx-light"
)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    # PostgreSQL is another user's when run as root, and cannot look into pytest's own folder.
    with (
        tempfile.TemporaryDirectory(prefix="strongroom-cluster-") as folder,
        running(tmp_path_factory.mktemp("cluster"), Path(folder)) as cluster,
    ):
        yield cluster


@pytest.fixture
def client(cluster: Cluster) -> Client:
    return cluster.client()


@pytest.fixture
def load(cluster: Cluster, client: Client) -> Load:
    """Work for the balancer where there is one, and else for the second node."""
    assert client.token is not None
    url = cluster.balancer.url if NGINX else cluster.nodes[1].url
    return Load(url, client.token, client.make_tenant("Load"))


def assert_nothing_acknowledged_is_lost(cluster: Cluster, load: Load) -> None:
    client = Client(cluster.nodes[0].url, load.token)
    assert load.acknowledged
    for node, content in load.acknowledged.items():
        assert client.download(load.tenant, node) == content


def outbox(cluster: Cluster) -> list[dict[str, Any]]:
    lines = (cluster.configs[0].parent / "outbox.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def test_a_login_on_one_node_holds_on_the_other_until_it_is_revoked_on_either(cluster: Cluster) -> None:
    first, second = (node.url for node in cluster.nodes)
    token = Client.logged_in(first, EMAIL).token
    Client(second, token).expect(200, "GET", "/users/me/authorizations")
    Client(second, token).expect(200, "DELETE", "/authorizations/current")
    Client(first, token).expect(401, "GET", "/users/me/authorizations")


def test_captchas_and_codes_cross_from_node_to_node(cluster: Cluster) -> None:
    first, second = (Client(node.url) for node in cluster.nodes)
    captcha = {"id": first.expect(201, "POST", "/captchas", {}).json()["id"], "answer": "42"}
    body = {"recipient": EMAIL, "purpose": "reset-password", "captcha": captcha}
    code = second.expect(201, "POST", "/verification-codes", body).json()["id"]
    second.expect(400, "POST", "/verification-codes", body)
    proof = {"id": code, "code": outbox(cluster)[-1]["code"]}
    # The test is about the code, so the password need not change.
    reset = {"verificationCode": proof, "newPassword": PASSWORD}
    path = f"/users/{EMAIL}/reset-password"
    first.expect(200, "POST", path, reset)
    second.expect(400, "POST", path, reset)


@behind_nginx
def test_a_node_that_is_killed_takes_only_its_open_requests_with_it(
    cluster: Cluster, load: Load
) -> None:
    with load.on():
        load.await_outcomes()
        killed_at = time.monotonic()
        cluster.kill(1)
        gone_at = time.monotonic()
        load.await_outcomes(60)
    failed = load.failed()
    assert all(item.began <= gone_at and item.ended >= killed_at for item in failed), failed
    assert len(failed) <= load.THREADS
    cluster.restart(1)
    assert_nothing_acknowledged_is_lost(cluster, load)


@behind_nginx
def test_reloading_every_node_under_load_drops_no_request(cluster: Cluster, load: Load) -> None:
    with load.on():
        load.await_outcomes()
        at_once([node.reload for node in cluster.nodes])
        load.await_outcomes()
    assert load.failed() == []


@behind_nginx
def test_restarting_node_after_node_under_load_drops_no_request(cluster: Cluster, load: Load) -> None:
    with load.on():
        load.await_outcomes()
        for number in (0, 1):
            cluster.balancer.use([port for i, port in enumerate(cluster.ports) if i != number])
            cluster.restart(number)
            cluster.balancer.use(cluster.ports)
            load.await_outcomes()
    assert load.failed() == []


def test_postgresql_may_go_away_and_come_back(cluster: Cluster, load: Load) -> None:
    with load.on():
        load.await_outcomes()
        cluster.postgresql.stop()
        away = time.monotonic()
        load.await_outcomes(20)
        back = time.monotonic()
        cluster.postgresql.start()
        started = time.monotonic()
        recovered = max(load.await_success(kind, started) for kind in ("upload", "list", "login"))
    for kind in ("upload", "list", "login"):
        assert load.statuses(kind, away, back) <= {503}
    assert load.statuses("list", away, back) == {503}
    assert {item.status for item in load.outcomes} <= {200, 201, 503}
    assert all(item.retry_after for item in load.outcomes if item.status == 503)
    assert recovered < RECOVERY_SECONDS
    assert_nothing_acknowledged_is_lost(cluster, load)


def test_without_redis_logins_are_refused_and_all_else_works(cluster: Cluster, load: Load) -> None:
    with load.on():
        load.await_outcomes()
        cluster.redis.kill()
        away = time.monotonic()
        load.await_outcomes(60)
        back = time.monotonic()
        cluster.redis.start()
        recovered = load.await_success("login", time.monotonic())
    assert load.statuses("login", away, back) == {503}
    assert {item.status for item in load.outcomes if item.kind != "login"} == {200, 201}
    assert recovered < RECOVERY_SECONDS


def test_without_s3_bytes_are_away_and_all_else_goes_on(cluster: Cluster, load: Load) -> None:
    with load.on():
        load.await_outcomes()
        cluster.s3.shut()
        away = time.monotonic()
        load.await_outcomes(30)
        back = time.monotonic()
        cluster.s3.open()
        opened = time.monotonic()
        # Each process has its own circuit breaker, so the requests must reach all of them.
        load.await_good_outcomes(60)
    assert load.statuses("upload", away, back) == {503}
    assert load.statuses("list", away, back) == {200}
    assert {item.status for item in load.outcomes} - {200, 201, 503} <= {LOST}
    assert max(item.ended for item in load.failed()) < opened + RECOVERY_SECONDS
    assert_nothing_acknowledged_is_lost(cluster, load)
