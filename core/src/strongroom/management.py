"""The operators' address: metrics of all processes, and the state of the server.

It is served by a process of its own, so that it answers while all others are busy, and so that no
client reaches it by mistake.
"""

import logging
from collections.abc import Iterator
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from flask import Flask, Response
from prometheus_client.core import GaugeMetricFamily, Metric

from strongroom.assembly.container import Container, build
from strongroom.config import Configuration, Settings
from strongroom.health.probes import AWAY, probes
from strongroom.health.readiness import PATIENCE_SECONDS, Readiness
from strongroom.health.views import blueprint as health_blueprint
from strongroom.local_probe import is_ok
from strongroom.telemetry.processes import exposition
from strongroom.web.components import provide
from strongroom.web.errors import register_error_handlers
from strongroom.web.requests import register_request_hooks

logger = logging.getLogger(__name__)

_IDLE_SECONDS: Final = 10


def serve_management(configuration: Configuration, metrics_folder: Path) -> None:
    """Serve the operators' address until the process is ended."""
    container = build(configuration)
    management = configuration.settings.management
    app = create_management_app(container, metrics_folder)
    with make_server(management.host, management.port, app, _Server, _Handler) as server:
        server.serve_forever()


def create_management_app(container: Container, metrics_folder: Path) -> Flask:
    """Make the application behind the operators' address.

    Args:
        container: the services of this process.
        metrics_folder: where all processes keep their metrics.
    """
    app = Flask("strongroom.management", static_folder=None)
    base = container.base
    parts = probes(base.database, base.limits_store, container.keeping.blobs.storages)
    readiness = Readiness(
        {"workers": lambda: _workers(container.settings), **parts},
        base.clock,
        patience=PATIENCE_SECONDS,
    )
    provide(app, Readiness, readiness)
    register_request_hooks(app)
    register_error_handlers(app)
    app.register_blueprint(health_blueprint)

    def metrics() -> Response:
        content, content_type = exposition(metrics_folder, [_Parts(readiness)])
        return Response(content, content_type=content_type)

    app.add_url_rule("/metrics", "metrics", metrics)
    return app


class _Parts:
    """Tells of each part whether it answers, as a metric."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily("strongroom_part_up", "Whether a part answers.", labels=["part"])
        for name, fault in self._readiness.report().parts.items():
            family.add_metric([name], float(fault is None))
        yield family

    def describe(self) -> Iterator[Metric]:
        """Ask nothing when this is registered."""
        return iter(())


def _workers(settings: Settings) -> str | None:
    return None if is_ok(settings, "/livez", PATIENCE_SECONDS) else AWAY


class _Server(ThreadingMixIn, WSGIServer):
    """Answers several operators at once; none of them keeps the process alive."""

    daemon_threads = True


class _Handler(WSGIRequestHandler):
    """Does not wait for ever for somebody who says nothing."""

    timeout = _IDLE_SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  so the base class calls it
        logger.debug(format, *args)
