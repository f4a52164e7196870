"""One request through nginx, server, PostgreSQL, S3 and a webhook is one trace in a collector."""

import http.client
import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.client import PASSWORD
from tests.support.collector import CollectedSpan, Collector, collecting
from tests.support.config import ONE_WORKER, Table, main_storage
from tests.support.databases import on_postgresql
from tests.support.nginx import Nginx, nginx_before
from tests.support.receiver import Receiver, receiving
from tests.support.server import EMAIL, STOP_SECONDS, Server, serving, write_config
from tests.support.stores import s3_store
from tests.support.waiting import wait_until

SECRET_NAME = "merger-with-initech.txt"
CONTENT = b"a confidential text" * 100
SERVER_KIND, CLIENT_KIND = 2, 3


@dataclass
class Site:
    """Everything that a request passes, and the collector."""

    server: Server
    nginx: Nginx
    receiver: Receiver
    collector: Collector
    token: str = ""

    def request(self, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
        """Send a request through nginx."""
        if isinstance(body, dict):
            body, headers["Content-Type"] = json.dumps(body), "application/json"
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        port, context = self.nginx.port, self.nginx.context()
        connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=60)
        with closing(connection):
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            content = response.read()
            assert response.status in (200, 201), content
            return {**json.loads(content), "requestId": response.headers["X-Request-Id"]}


@contextmanager
def site(folder: Path, database_url: str) -> Iterator[Site]:
    """Run all of them."""
    with ExitStack() as stack:
        store = stack.enter_context(s3_store())
        receiver = stack.enter_context(receiving())
        collector = stack.enter_context(collecting())
        options = {
            "allow_hosts": [f"127.0.0.1:{receiver.port}"],
            "allow_http": True,
            "schedule_seconds": [0, 1],
        }
        changes: Table = {
            "server": {"trusted_proxies": ["127.0.0.1/32"]},
            "tracing": {
                "endpoint": collector.url,
                "authorization": "Bearer of-the-collector",
                "service_name": "files",
            },
            "logging": {"format": "json", "requests": True},
        }
        plugins: Table = {"plugins": {"enabled": ["storage_s3", "webhooks"], "webhooks": options}}
        config = write_config(
            folder, database_url, ONE_WORKER, *main_storage(store.options()), changes, plugins
        )
        server = stack.enter_context(serving(config))
        server.create_user(EMAIL)
        port = int(server.url.rpartition(":")[2])
        nginx_folder = folder / "nginx"
        nginx_folder.mkdir()
        nginx = nginx_before(nginx_folder, [port, port])
        settings = nginx_folder / "nginx.conf"
        settings.write_text(settings.read_text().replace("{ 5% 01;", "{ 100% 01;"))
        stack.enter_context(nginx.running())
        yield Site(server, nginx, receiver, collector)


@on_postgresql
def test_a_request_is_one_trace_from_nginx_to_the_webhook(tmp_path: Path, database_url: str) -> None:
    with site(tmp_path, database_url) as running:
        login = {"username": EMAIL, "password": PASSWORD}
        running.token = running.request("POST", "/authorizations", login)["accessToken"]
        tenant = running.request("POST", "/api/v1/tenants", {"name": "Acme"})["id"]
        endpoint = {
            "url": running.receiver.url("/secret-path"),
            "eventTypes": ["file.created"],
            "tenantId": tenant,
        }
        running.request("POST", "/api/v1/webhook-endpoints", endpoint)
        name = {"Content-Disposition": f'attachment; filename="{SECRET_NAME}"'}
        uploaded = running.request("POST", f"/api/v1/tenants/{tenant}/files", CONTENT, **name)
        wait_until(lambda: bool(running.receiver.of("/secret-path")))
        (message,) = running.receiver.of("/secret-path")
        # Stopped, so that all of its spans are exported.
        running.server.process.terminate()
        running.server.process.wait(timeout=STOP_SECONDS)
        trace_id = uploaded["requestId"]
        spans = running.collector.of_trace(trace_id)
        check_trace(spans, trace_id, message.headers["traceparent"])
        # Written after the response has gone.
        wait_until(lambda: trace_id in running.nginx.access_log(), seen=running.nginx.access_log)
        assert {headers["authorization"] for headers in running.collector.headers} == {
            "Bearer of-the-collector"
        }
        check_privacy(running, uploaded["id"], tenant)
        check_log(running, trace_id)


def check_trace(spans: list[CollectedSpan], trace_id: str, sent: str) -> None:
    """Compare the spans of the upload with its steps."""
    by_name = {span.name: span for span in spans}
    request = by_name["POST /api/v1/tenants/<tenant_id>/files"]
    # The span of nginx, which no module of it exports.
    assert request.parent_id == trace_id[:16]
    assert request.kind == SERVER_KIND
    assert request.attributes["http.response.status_code"] == 201
    assert request.attributes["strongroom.request_id"] == trace_id
    put = by_name["storage put"]
    assert (put.parent_id, put.attributes) == (request.span_id, {"strongroom.storage": "main"})
    statements = [span for span in spans if span.name.startswith("statement ")]
    assert any(span.name.startswith("statement nodes.events.") for span in statements), by_name
    in_request = [span for span in statements if span.parent_id == request.span_id]
    assert len(in_request) > 3
    assert {span.attributes["db.system.name"] for span in statements} == {"postgresql"}
    assert all(request.began <= span.began <= span.ended <= request.ended for span in in_request)
    delivery, call = by_name["webhook delivery"], by_name["HTTP POST"]
    assert delivery.parent_id == request.span_id
    assert (call.parent_id, call.kind) == (delivery.span_id, CLIENT_KIND)
    assert call.attributes["http.response.status_code"] == 204
    # The receiver could continue the trace.
    assert sent == f"00-{trace_id}-{call.span_id}-01"
    assert {span.service for span in spans} == {"files"}
    assert not any(span.has_failed for span in spans)


def check_privacy(running: Site, *ids: str) -> None:
    """No span has a name, a token, an address or an id of a user, a file or a tenant."""
    texts = "\n".join(f"{span.name} {dict(span.attributes)}" for span in running.collector.spans)
    for secret in (SECRET_NAME, EMAIL, running.token, "any-site", "127.0.0.1", "Acme", *ids):
        assert secret not in texts


def check_log(running: Site, trace_id: str) -> None:
    """The line of the request names its trace."""
    lines = [line for line in running.server.log.read_text().splitlines() if line.startswith("{")]
    (line,) = (item for item in map(json.loads, lines) if item.get("requestId") == trace_id)
    assert line["traceId"] == trace_id
    assert line["route"] == "/api/v1/tenants/<tenant_id>/files"
