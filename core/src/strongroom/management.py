"""The management interface: metrics of all processes, and health checks.

A separate process serves it on a separate port, so that it responds while all workers are busy, and
so that clients cannot reach it by mistake.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from flask import Flask, Response
from prometheus_client.core import GaugeMetricFamily, Metric

from strongroom.config import Configuration, Settings
from strongroom.container.services import Container, build
from strongroom.http.app import Application
from strongroom.http.request import register_service
from strongroom.observability.readiness import AWAY, PATIENCE_SECONDS, Readiness, probes
from strongroom.observability.shared_metrics import exposition
from strongroom.observability.views import blueprint as health_blueprint
from strongroom.processes import is_ok

logger = logging.getLogger(__name__)

_IDLE_SECONDS: Final = 10


def serve_management(configuration: Configuration, metrics_folder: Path) -> None:
    """Serve the management interface until the process is killed."""
    container = build(configuration)
    management = configuration.settings.management
    app = create_management_app(container, metrics_folder)
    with make_server(management.host, management.port, app, _Server, _Handler) as server:
        server.serve_forever()


def create_management_app(container: Container, metrics_folder: Path) -> Flask:
    """Create the application of the management interface."""
    app = Application("strongroom.management")
    base = container.base
    parts = probes(base.database, base.limits_store, container.keeping.blobs.storages)
    readiness = Readiness(
        {"workers": lambda: _workers(container.settings), **parts},
        base.clock,
        patience=PATIENCE_SECONDS,
    )
    register_service(app, Readiness, readiness)
    app.register_blueprint(health_blueprint)

    def metrics() -> Response:
        content, content_type = exposition(metrics_folder, [_Parts(readiness)])
        return Response(content, content_type=content_type)

    app.add_url_rule("/metrics", "metrics", metrics)
    return app


class _Parts:
    """A collector that exports the readiness of each part as a gauge."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily("strongroom_part_up", "Whether a part is available.", labels=["part"])
        for name, fault in self._readiness.report().parts.items():
            family.add_metric([name], float(fault is None))
        yield family

    def describe(self) -> Iterator[Metric]:
        """Return nothing, so that registering the collector runs no probes."""
        return iter(())


def _workers(settings: Settings) -> str | None:
    return None if is_ok(settings, "/livez", PATIENCE_SECONDS) else AWAY


class _Server(ThreadingMixIn, WSGIServer):
    """A threading server whose threads do not keep the process alive."""

    daemon_threads = True


class _Handler(WSGIRequestHandler):
    """A handler that closes idle connections after ``timeout`` seconds."""

    timeout = _IDLE_SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  so the base class calls it
        logger.debug(format, *args)
