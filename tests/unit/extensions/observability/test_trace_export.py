"""A collector of traces that is down, slow, refuses or is back."""

import logging
from collections import Counter
from collections.abc import Callable

import pytest
from prometheus_client import CollectorRegistry
from tests.support.collector import collecting

from strongroom.extensions.observability import trace_export
from strongroom.extensions.observability.doctor import CheckState, examine_collector
from strongroom.extensions.observability.metrics import Metrics
from strongroom.extensions.observability.trace_export import COLLECTOR, QUEUE, CollectorExporter
from strongroom.extensions.observability.tracing import OpenTelemetryTracer
from strongroom.foundation.config.server_settings import TracingSettings
from strongroom.testing.server import free_port

# Too short for the second attempt of a batch.
SECONDS = 0.3

AWAY = "The collector of traces is unavailable, spans are dropped: "
BACK = "The collector of traces is available again; "


class Traced:
    """A tracer whose spans are exported when a test says so.

    Args:
        url: the URL of the collector.
    """

    def __init__(self, url: str) -> None:
        settings = TracingSettings(url, sample_ratio=1)
        self.exporter = CollectorExporter(settings, SECONDS)
        self.tracer = OpenTelemetryTracer(settings, exporter=self.exporter)
        self.dropped = Counter[str]()
        self.exporter.report_drops(self.count)

    def count(self, reason: str, number: int) -> None:
        """Count dropped spans."""
        self.dropped[reason] += number

    def export(self, spans: int = 1) -> None:
        """End spans and export them."""
        for _ in range(spans):
            started = self.tracer.start("HTTP")
            assert started is not None
            started.end()
        self.tracer._pipeline._processor.force_flush()


@pytest.fixture
def lines(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    caplog.set_level(logging.DEBUG, "opentelemetry")
    caplog.set_level(logging.INFO)
    return lambda: [
        record.getMessage()
        for record in caplog.records
        if not record.name.startswith(("urllib3", "asyncio"))
    ]


def test_a_collector_that_is_down_and_back_is_logged_once_each(lines: Callable[[], list[str]]) -> None:
    port = free_port()
    traced = Traced(f"http://127.0.0.1:{port}/v1/traces")
    for _ in range(3):
        traced.export(2)
    assert lines() == [f"{AWAY}it cannot be reached"]
    assert traced.dropped == {COLLECTOR: 6}
    with collecting(port) as collector:
        traced.export()
        traced.export()
        assert len(collector.spans) == 2
        assert lines()[1:] == [f"{BACK}6 spans were dropped"]
        traced.tracer.close()
    assert traced.dropped == {COLLECTOR: 6}


def test_a_collector_that_is_slow_or_refuses_is_named(lines: Callable[[], list[str]]) -> None:
    with collecting() as collector:
        traced = Traced(collector.url)
        collector.released.clear()
        traced.export()
        assert lines() == [f"{AWAY}it does not respond in time"]
        collector.released.set()
        traced.export()
        collector.status = 401
        traced.export()
        assert lines()[1:] == [
            f"{BACK}1 spans were dropped",
            f"{AWAY}it responds with status 401",
        ]
        traced.tracer.close()


def test_spans_beyond_the_queue_are_counted(
    monkeypatch: pytest.MonkeyPatch, lines: Callable[[], list[str]]
) -> None:
    monkeypatch.setattr(trace_export, "QUEUE_SPANS", 5)
    with collecting() as collector:
        traced = Traced(collector.url)
        traced.export(8)
        assert (len(collector.spans), traced.dropped) == (5, {QUEUE: 3})
        traced.export(5)
        assert (len(collector.spans), traced.dropped) == (10, {QUEUE: 3})
        traced.tracer.close()
    assert lines() == []


def test_a_process_does_not_wait_for_a_collector_that_is_away() -> None:
    with collecting() as collector:
        traced = Traced(collector.url)
        collector.status = 503
        traced.export()
        requests = len(collector.headers)
        started = traced.tracer.start("HTTP")
        assert started is not None
        started.end()
        traced.tracer.close()
        assert len(collector.headers) == requests
    assert traced.dropped == {COLLECTOR: 2}


def test_drops_before_the_metrics_exist_are_counted() -> None:
    exporter = CollectorExporter(TracingSettings(f"http://127.0.0.1:{free_port()}/"), SECONDS)
    for _ in range(trace_export.QUEUE_SPANS + 1):
        exporter.reserve()
    metrics = Metrics(CollectorRegistry())
    exporter.report_drops(metrics.dropped_spans)
    exporter.reserve()
    assert metrics.registry.get_sample_value("strongroom_dropped_spans_total", {"reason": QUEUE}) == 2


def test_the_doctor_names_the_fault_of_the_collector() -> None:
    with collecting() as collector:
        settings = TracingSettings(collector.url)
        assert examine_collector(settings).state is CheckState.OK
        collector.status = 401
        refused = examine_collector(settings)
    assert (refused.state, refused.message) == (
        CheckState.WARNING,
        "the collector accepts no traces: it responds with status 401",
    )
    assert "tracing.authorization" in refused.remedy
