"""Counting in Redis behind each form of its URL, against real servers."""

import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from flask import Flask
from limits.storage import Storage
from redis import Redis
from tests.support.redis import RedisServer
from tests.support.redis_groups import SERVICE, Cluster, SentinelGroup, TlsGate
from tests.support.tls import Certificate, self_signed
from tests.support.waiting import wait_until

from strongroom.foundation.config.redis_urls import RedisAddress
from strongroom.foundation.limits import redis_clients
from strongroom.foundation.limits.backends import in_redis, redis_fault, redis_risks, storage_fault

PAGE = Path(__file__).parents[4] / "docs/operate/redis.md"
HOUR = 3600


storages: list[Any] = []


def open_storage(url: str) -> Any:
    storage = in_redis(RedisAddress.parse(url)).open(Flask(__name__), lambda: "client").storage
    storages.append(storage)
    return storage


@pytest.fixture(autouse=True)
def close_storages() -> Iterator[None]:
    yield
    while storages:
        storages.pop().servers.close()


def documented_permissions() -> list[str]:
    """Return the keys and commands of the ACL in the documentation."""
    (line,) = [line for line in PAGE.read_text().splitlines() if line.startswith("ACL SETUSER")]
    return [word for word in line.split() if word.startswith(("~", "+"))]


def counts(url: str, key: str = "subject") -> bool:
    """Return whether two of three events of a key are counted, and nothing is wrong."""
    storage = open_storage(url)
    acquired = [storage.acquire_entry(key, 2, HOUR) for _ in range(3)]
    seen = storage.get_moving_window(key, 2, HOUR)[1]
    return (acquired, seen, storage_fault(storage)) == ([True, True, False], 2, None)


def explain(url: str) -> tuple[str, str]:
    """Return the note and the message of what is wrong."""
    fault = redis_fault(open_storage(url))
    assert fault is not None
    assert "hush" not in fault.message
    return fault.note, f"{fault.message}; {fault.remedy}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    folder = tmp_path_factory.mktemp("redis")
    with RedisServer.serving(folder, "--unixsocket", str(folder / "redis.sock")) as server:
        with Redis.from_url(server.url) as client:
            client.execute_command(
                "ACL", "SETUSER", "app", "reset", "on", ">hush", *documented_permissions()
            )
            client.execute_command("ACL", "SETUSER", "poor", "reset", "on", ">hush", "~*", "+select")
        yield server


@pytest.fixture(scope="module")
def socket(server: RedisServer) -> str:
    with Redis.from_url(server.url) as client:
        return str(client.config_get("unixsocket")["unixsocket"])


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Certificate]:
    folder = tmp_path_factory.mktemp("certificates")
    return {name: self_signed(folder, name) for name in ("localhost", "client", "other")}


@pytest.fixture(scope="module")
def port(
    certificates: dict[str, Certificate], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[int]:
    context = certificates["localhost"].server()
    context.load_verify_locations(certificates["client"].file)
    context.verify_mode = ssl.CERT_REQUIRED
    with RedisServer.serving(tmp_path_factory.mktemp("redis")) as server:
        gate = TlsGate(int(server.url.rpartition(":")[2]), context)
        yield gate.port
        gate.close()


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SentinelGroup]:
    with SentinelGroup.serving(tmp_path_factory.mktemp("sentinels")) as group:
        yield group


class TestServer:
    """One server."""

    @pytest.fixture
    def place(self, server: RedisServer) -> str:
        return server.url.removeprefix("redis://")

    def test_a_socket(self, socket: str) -> None:
        assert counts(f"unix://{socket}?db=3")

    def test_valkey_is_the_same(self, place: str) -> None:
        assert counts(f"valkey://{place}/4")

    def test_a_user_needs_only_the_documented_permissions(self, place: str) -> None:
        assert counts(f"redis://app:hush@{place}/5")

    @pytest.mark.parametrize(
        ("url", "note", "message"),
        [
            (
                "redis://poor:hush@{place}",
                "It refuses a command: NOPERM.",
                "Redis at {place} refuses a command (NOPERM): ",
            ),
            (
                "redis://app:wrong@{place}",
                "It refuses the login.",
                "Redis at {place} refuses the login: ",
            ),
            (
                "redis://{place}/99",
                "It refuses the database.",
                "Redis at {place} refuses the database /99: DB index is out of range",
            ),
            (
                "redis://{place}?replicas=1",
                "It refuses writes: NOREPLICAS.",
                "Redis at {place} refuses writes (NOREPLICAS); start its replicas",
            ),
            (
                "redis+cluster://{place}",
                "It is no cluster.",
                "the cluster at {place} has no cluster enabled",
            ),
            (
                "unix:///nowhere/redis.sock",
                "It does not answer.",
                "Redis at /nowhere/redis.sock does not answer",
            ),
        ],
    )
    def test_what_is_wrong_is_said(self, place: str, url: str, note: str, message: str) -> None:
        found = explain(url.format(place=place))
        assert found[0] == note
        assert found[1].startswith(message.format(place=place))

    def test_a_server_that_forgets_counts_is_a_risk(self, server: RedisServer) -> None:
        storage = open_storage(server.url)
        assert list(redis_risks(storage)) == []
        with Redis.from_url(server.url) as client:
            client.config_set("maxmemory", "100mb")
            client.config_set("maxmemory-policy", "allkeys-lru")
            (risk,) = redis_risks(storage)
            client.config_set("maxmemory", "0")
        assert risk == (
            "Redis forgets counts when its memory is full (maxmemory-policy allkeys-lru)",
            "set maxmemory-policy noeviction",
        )


class TestTls:
    """A server that demands certificates of its clients."""

    @pytest.mark.parametrize(
        ("authority", "own", "is_right"),
        [
            ("localhost", "client", True),
            ("localhost", "other", False),
            ("localhost", None, False),
            ("other", "client", False),
        ],
    )
    def test_both_sides_check_certificates(
        self,
        certificates: dict[str, Certificate],
        port: int,
        authority: str,
        own: str | None,
        is_right: bool,
    ) -> None:
        url = f"rediss://localhost:{port}/0?ssl_ca_certs={certificates[authority].file}"
        if own:
            url += f"&ssl_certfile={certificates[own].file}&ssl_keyfile={certificates[own].file}"
        if is_right:
            assert counts(url)
        else:
            note, message = explain(url)
            assert note == "TLS fails."
            assert "correct rediss:// or the options ssl_ca_certs, " in message

    def test_plain_text_is_refused(self, port: int) -> None:
        assert explain(f"redis://localhost:{port}")[0] == "It does not answer."


class TestSentinels:
    """A primary that Sentinels name."""

    def test_it_counts_on_the_primary(self, group: SentinelGroup) -> None:
        assert counts(group.url)
        assert group.primary().call("EXISTS", "LIMITS:subject") == 1

    def test_an_event_waits_for_all_live_replicas(
        self, group: SentinelGroup, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sent = Mock(side_effect=redis_clients._call)
        monkeypatch.setattr(redis_clients, "_call", sent)
        assert open_storage(group.url).acquire_entry("waiting", 1, HOUR)
        waits = [call.args[1:] for call in sent.call_args_list if call.args[1] == "WAIT"]
        assert waits == [("WAIT", 2, 1000)]

    def test_settings_that_could_lose_counts_are_risks(self, group: SentinelGroup) -> None:
        assert list(redis_risks(open_storage(group.url))) == [
            ("a primary that restarts before it is replaced has lost all counts", "set appendonly yes"),
            (
                "a replica that lacks counts may be promoted: Sentinels wait only 1500 ms",
                "set down-after-milliseconds 5000 or more",
            ),
        ]

    def test_a_service_misspelt(self, group: SentinelGroup) -> None:
        note, message = explain(group.url.replace(f"/{SERVICE}/", "/limit/"))
        assert note == "The Sentinels do not know the service."
        assert message.endswith('know no service "limit"; correct it in redis.url; known there: limits')

    def test_sentinels_that_do_not_answer(self) -> None:
        note, message = explain("redis+sentinel://127.0.0.1:1,127.0.0.1:2/limits/0")
        assert note == "The Sentinels: It does not answer."
        assert message.startswith("the Sentinels at 127.0.0.1:1, 127.0.0.1:2 does not answer")

    def test_sentinels_with_a_password(self, group: SentinelGroup) -> None:
        node = group.sentinels[-1]
        node.call("ACL", "SETUSER", "watcher", "on", ">hush", "+sentinel|masters", "+ping")
        node.call("ACL", "SETUSER", "default", "off")
        url = f"redis+sentinel://127.0.0.1:{node.port}/{SERVICE}"
        note, message = explain(url)
        assert note == "The Sentinels: It refuses the login."
        assert message.endswith("; correct sentinel_username or sentinel_password in redis.url")
        assert counts(f"{url}?sentinel_username=watcher&sentinel_password=hush", "other subject")


class TestCluster:
    """A cluster of three nodes."""

    @pytest.fixture
    def cluster(self, tmp_path: Path) -> Iterator[Cluster]:
        with Cluster.serving(tmp_path) as cluster:
            yield cluster

    def test_it_counts_on_all_nodes(self, cluster: Cluster) -> None:
        url = f"{cluster.url}?replicas=0"
        storage = open_storage(url)
        results = [storage.acquire_entry(f"key-{number % 50}", 2, HOUR) for number in range(150)]
        assert results == [True] * 100 + [False] * 50
        assert all(node.call("DBSIZE") > 5 for node in cluster.nodes)
        assert storage_fault(storage) is None
        self._is_down_when_a_node_is(cluster, storage)

    def _is_down_when_a_node_is(self, cluster: Cluster, storage: Storage) -> None:
        one = cluster.nodes[1]
        assert explain(one.url)[0] in {"It is a cluster.", "It refuses the database."}
        one.kill()
        wait_until(lambda: storage_fault(storage) == "The cluster is down.")
        one.start()
        wait_until(lambda: storage_fault(storage) is None)
