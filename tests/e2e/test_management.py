"""The management interface: metrics of all processes add up, and unavailable parts are named."""

import json
import re
import socket
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from strongroom.testing.server import free_port
from tests.support.client import TIMEOUT, Client
from tests.support.commands import run_command
from tests.support.config import Table, read_toml
from tests.support.databases import on_sqlite
from tests.support.http import at_once
from tests.support.server import Server, is_listening, write_config
from tests.support.waiting import wait_until

REQUESTS = 60
ME = "/users/me/authorizations"


class Operator:
    """A client of the operators' address."""

    def __init__(self, port: int) -> None:
        self.url = f"http://127.0.0.1:{port}"

    def get(self, path: str) -> tuple[int, str]:
        """Return the status and the text of a page."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=TIMEOUT) as response:
                return response.status, response.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode()

    def metric(self, series: str) -> float:
        """Return the value of a series, or 0 if there is none."""
        found = re.search(rf"^{re.escape(series)} (\S+)$", self.get("/metrics")[1], re.MULTILINE)
        return float(found[1]) if found else 0.0


PLUGIN = """
from flask import request
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.metrics import Counter, Gauge, Histogram
from strongroom.plugin_api.web import Blueprint

API_VERSION = "2.0"
SEEN = Counter("requests", "Requests.", labels={"kind": ("all", "none")})
TIME = Histogram("time", "A time.", unit="seconds", buckets=(1, 10))

@hookimpl
def register_metrics(host):
    def fail():
        raise ValueError("it is broken")
    return [
        SEEN, TIME,
        Gauge("keys", "Keys.", lambda: {("old",): 2}, labels={"age": ("new", "old")}),
        Gauge("broken", "Fails.", fail),
        Gauge("stray", "Returns what is not declared.", lambda: {("x",): 1}),
        Gauge("unknown", "Nothing yet.", lambda: None),
    ]

@hookimpl
def register_blueprints(host):
    routes = Blueprint("tally", description="Counts requests.")

    @routes.before_app_request
    def count():
        # Not the health checks of the management interface.
        if request.path == "/users/me/authorizations":
            SEEN.inc("all")
            SEEN.inc("input of a client")
            TIME.observe(5)

    return [routes]
"""


@pytest.fixture
def config_changes(tmp_path: Path) -> Table:
    plugins = tmp_path / "plugins.d"
    plugins.mkdir()
    (plugins / "tally.py").write_text(PLUGIN)
    return {
        "management": {"port": free_port()},
        "plugins": {"folder": str(plugins)},
        "logging": {"format": "json", "requests": True},
    }


@pytest.fixture
def operator(server: Server) -> Operator:
    port = read_toml(server.config)["management"]["port"]
    # Its process starts after the workers.
    wait_until(lambda: is_listening(port))
    return Operator(port)


@on_sqlite
def test_requests_of_all_processes_add_up_and_survive_a_process(
    server: Server, operator: Operator, client: Client
) -> None:
    at_once([lambda: client.expect(200, "GET", ME)] * REQUESTS)
    series = (
        'strongroom_requests_total{method="GET",route="/users/<user_id>/authorizations",status="200"}'
    )
    # A request counts once its answer has gone, which the client may know before.
    wait_until(lambda: operator.metric(series) == REQUESTS)
    assert operator.metric('strongroom_logins_total{outcome="success"}') == 1
    client.request(
        "POST",
        "/authorizations",
        b'{"username": "a@b.c", "password": "x"}',
        {"Content-Type": "application/json"},
    )
    assert operator.metric('strongroom_logins_total{outcome="error.invalid-credentials"}') == 1
    server.reload()
    assert operator.metric(series) == REQUESTS
    client.expect(200, "GET", ME)
    wait_until(lambda: operator.metric(series) == REQUESTS + 1)


@on_sqlite
def test_metrics_of_plugins_are_those_of_all_processes(
    server: Server, operator: Operator, client: Client
) -> None:
    assert len(server.workers()) > 1
    at_once([lambda: client.expect(200, "GET", ME)] * REQUESTS)
    seen = 'strongroom_tally_requests_total{kind="all"}'
    assert operator.metric(seen) == REQUESTS
    assert operator.metric('strongroom_tally_requests_total{kind="other"}') == REQUESTS
    assert operator.metric('strongroom_tally_time_seconds_bucket{le="10.0"}') == REQUESTS
    server.reload()
    assert operator.metric(seen) == REQUESTS
    page = operator.get("/metrics")[1]
    assert 'strongroom_tally_requests_total{kind="none"} 0.0' in page
    assert "input" not in page


@on_sqlite
def test_a_gauge_that_fails_is_missing_and_is_logged_once(server: Server, operator: Operator) -> None:
    for reading in range(1, 4):
        page = operator.get("/metrics")[1]
        assert 'strongroom_tally_keys{age="old"} 2.0' in page
        assert "strongroom_part_up" in page
        for name in ("broken", "stray", "unknown"):
            assert not re.search(rf"^strongroom_tally_{name}\b", page, re.MULTILINE)
        errors = 'strongroom_gauge_read_errors_total{{gauge="strongroom_tally_{}"}} {}.0'
        assert all(errors.format(name, reading) in page for name in ("broken", "stray"))
        assert all(errors.format(name, 0) in page for name in ("unknown", "keys"))
    for name in ("broken", "stray"):
        assert server.log.read_text().count(f"The gauge strongroom_tally_{name} cannot be read") == 1


@on_sqlite
def test_bytes_are_counted_both_ways(operator: Operator, client: Client) -> None:
    tenant = client.make_tenant("Acme")
    node = client.upload(tenant, "a.bin", bytes(300_000))
    client.download(tenant, node["id"])
    route = "/api/v1/tenants/<tenant_id>/files"
    assert operator.metric(f'strongroom_received_bytes_total{{route="{route}"}}') == 300_000
    sent = f'strongroom_sent_bytes_total{{route="{route}/<file_id>/download"}}'
    # A response that is not sent in one piece counts once it has gone, which the client may know before.
    wait_until(lambda: operator.metric(sent) == 300_000)


@on_sqlite
def test_the_number_of_open_requests_returns_to_zero(operator: Operator, client: Client) -> None:
    client.expect(200, "GET", ME)
    page = operator.get("/metrics")[1]
    for name in ("requests", "hashes"):
        assert f"strongroom_{name}_in_flight 0.0" in page


@on_sqlite
def test_readiness_names_the_parts_and_the_processes(
    operator: Operator, client: Client, tmp_path: Path
) -> None:
    wait_until(lambda: operator.get("/readyz")[0] == 200, seen=lambda: operator.get("/readyz"))
    assert json.loads(operator.get("/readyz")[1])["parts"][0] == "workers"
    wait_until(lambda: operator.metric('strongroom_part_up{part="storages.main"}') == 1)
    (tmp_path / "files").rename(tmp_path / "away")
    (tmp_path / "files").symlink_to(tmp_path / "files")
    wait_until(lambda: operator.get("/readyz")[0] != 200)
    wait_until(lambda: operator.metric('strongroom_part_up{part="storages.main"}') == 0)


@on_sqlite
def test_clients_do_not_reach_the_metrics(client: Client, operator: Operator) -> None:
    assert client.request("GET", "/metrics").status == 404
    assert operator.get("/users/me")[0] == 404


@on_sqlite
def test_each_request_is_a_line_of_json_without_its_path(client: Client, server: Server) -> None:
    client.request("GET", "/users/me", headers={"X-Request-Id": "abc-123"})
    client.request("DELETE", f"/authorizations/{client.token}")
    wait_until(lambda: all(text in server.log.read_text() for text in ('"DELETE"', '"abc-123"')))
    lines = [line for line in server.log.read_text().splitlines() if line.startswith("{")]
    (line,) = (line for line in map(json.loads, lines) if line.get("requestId") == "abc-123")
    assert (line["method"], line["route"], line["status"]) == ("GET", "/users/<user_id>", 200)
    assert client.token is not None
    assert client.token not in "".join(lines)


def test_a_server_without_metrics_also_removes_the_folders_of_killed_servers(tmp_path: Path) -> None:
    config = write_config(tmp_path, f"sqlite:///{tmp_path}/db.sqlite3")
    folders = tmp_path / "temporary"
    (folders / "strongroom-metrics-of-a-killed-server").mkdir(parents=True)
    with socket.create_server(("127.0.0.1", read_toml(config)["server"]["port"])):
        result = run_command("serve", "--config", str(config), env={"TMPDIR": str(folders)})
    assert "cannot listen on" in result.stderr
    assert list(folders.glob("strongroom-metrics-*")) == []
