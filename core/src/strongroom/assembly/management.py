"""The management interface: metrics of all processes, and health checks.

A separate process serves it on a separate port, so that it responds while all workers are busy, and
so that clients cannot reach it by mistake.
"""

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from flask import Flask, Response

from strongroom.assembly.container import Container, build
from strongroom.content.storage.service import BlobService
from strongroom.extensions.observability.bounded_calls import PATIENCE_SECONDS
from strongroom.extensions.observability.clock_skew_metric import ClockSkewMetric
from strongroom.extensions.observability.disks import Disks, disk_folders
from strongroom.extensions.observability.families import (
    PART_UP,
    Family,
    FamilyCollector,
    Sample,
    build_info,
)
from strongroom.extensions.observability.plugin_metrics import PluginGauges
from strongroom.extensions.observability.process_metrics import ProcessMetrics
from strongroom.extensions.observability.readiness import AWAY, Probes, Readiness, probes
from strongroom.extensions.observability.shared_metrics import exposition
from strongroom.extensions.observability.totals import Totals
from strongroom.extensions.observability.views import blueprint as health_blueprint
from strongroom.foundation.config import Configuration, Settings
from strongroom.foundation.processes import is_ok
from strongroom.foundation.translations import Translations
from strongroom.web.http.dispatch.application import Application
from strongroom.web.http.request import register_service

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
    app = Application("strongroom.assembly.management")
    base = container.base
    data_dir, storages = container.settings.server.data_dir, container.get(BlobService).storages
    parts = probes(data_dir, base.database, base.limits_store, storages)
    own = {"workers": lambda: _workers(container.settings), **parts.own}
    readiness = Readiness(Probes(own, parts.shared), base.clock)
    register_service(app, Readiness, readiness)
    register_service(app, Translations, base.translations)
    health_blueprint.register(app)

    collectors = _collectors(container, readiness)

    def metrics() -> Response:
        content, content_type = exposition(metrics_folder, collectors)
        return Response(content, content_type=content_type)

    app.add_url_rule("/metrics", "metrics", metrics)
    return app


def _collectors(container: Container, readiness: Readiness) -> list[FamilyCollector]:
    """Return the collectors of values that each scrape reads, in addition to the workers' counters."""

    def parts() -> Iterator[tuple[Family, list[Sample]]]:
        report = readiness.report().parts
        yield PART_UP, [((name,), float(fault is None)) for name, fault in report.items()]

    database, storages = container.database, container.get(BlobService).storages
    totals = Totals(database, container.job_leases, container.events.positions)
    folders = disk_folders(container.settings.server.data_dir, database.engine, storages)
    return [
        FamilyCollector(parts),
        FamilyCollector(build_info),
        FamilyCollector(ProcessMetrics(os.getppid())),
        FamilyCollector(Disks(folders)),
        FamilyCollector(ClockSkewMetric(database, container.base.clock)),
        FamilyCollector(totals),
        FamilyCollector(PluginGauges(container.register_metrics())),
    ]


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
