"""The contract of a plugin's metrics, and what tests read from them.

The contract uses the fixture ``opened`` of :mod:`strongroom.testing.state`::

    class TestMetrics(MetricsContract):
        pass

    def test_an_import_is_counted(opened: OpenedPlugin) -> None:
        recorded = record_metrics(opened)
        run_import(opened.host)
        assert recorded.total("imports", "success") == 1
"""

import threading
import time
from collections import defaultdict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from strongroom.plugin_api.metrics import OTHER, Counter, Gauge, Histogram, Labels, Metric
from strongroom.testing.state import OpenedPlugin

READ_SECONDS: Final = 2.0
"""The time limit of a gauge in a server."""

_THREADS: Final = 4


class RecordedMetrics:
    """What the metrics of a plugin have recorded since :func:`record_metrics`."""

    def __init__(self, metrics: Mapping[str, Metric]) -> None:
        self._metrics = metrics
        self._values: defaultdict[tuple[str, Labels], list[float]] = defaultdict(list)
        for name, metric in metrics.items():
            if isinstance(metric, Counter | Histogram):
                metric.attach(partial(self._add, name))

    def values(self, name: str, *labels: str) -> list[float]:
        """Return the increments of a counter, or the observed values of a histogram."""
        assert name in self._metrics, f"there is no metric {name}"
        return self._values[name, labels]

    def total(self, name: str, *labels: str) -> float:
        """Return the sum of :meth:`values`."""
        return sum(self.values(name, *labels))

    def read(self, name: str) -> Mapping[Labels, float]:
        """Read a gauge; return its values by the values of its labels."""
        gauge = self._metrics[name]
        assert isinstance(gauge, Gauge), f"{name} is no gauge"
        return gauge.values()

    def _add(self, name: str, labels: Labels, amount: float) -> None:
        self._values[name, labels].append(amount)


def registered(opened: OpenedPlugin) -> Mapping[str, Metric]:
    """Return the metrics of a plugin by their names within it, such as ``import_seconds``."""
    own = f"strongroom_{opened.name}_"
    metrics: Mapping[str, Metric] = opened.services.register_metrics()
    return {name.removeprefix(own): item for name, item in metrics.items() if name.startswith(own)}


def record_metrics(opened: OpenedPlugin) -> RecordedMetrics:
    """Record the metrics of a plugin from now on, instead of a server."""
    return RecordedMetrics(registered(opened))


class MetricsContract:
    """The rules of ``register_metrics``. Requires a fixture ``opened``, whose gauges can be read."""

    def test_there_are_metrics(self, opened: OpenedPlugin) -> None:
        assert registered(opened)

    def test_each_process_registers_the_same_metrics(self, opened: OpenedPlugin) -> None:
        first, second = (
            {name: (type(metric), metric.labels) for name, metric in registered(opened).items()}
            for _ in range(2)
        )
        assert first == second

    def test_counters_and_histograms_record_each_declared_label(self, opened: OpenedPlugin) -> None:
        metrics, recorded = registered(opened), record_metrics(opened)
        for name, metric in metrics.items():
            for labels in () if isinstance(metric, Gauge) else metric.series:
                _record(metric, labels)
                assert recorded.total(name, *labels) == 1

    def test_a_label_that_was_not_declared_is_recorded_as_other(self, opened: OpenedPlugin) -> None:
        metrics, recorded = registered(opened), record_metrics(opened)
        for name, metric in metrics.items():
            if metric.labels and not isinstance(metric, Gauge):
                count = len(metric.labels)
                _record(metric, ("Kontrakt 8f3a",) * count)
                assert recorded.total(name, *[OTHER] * count) == 1

    def test_gauges_read_declared_labels_in_any_thread_within_the_time(
        self, opened: OpenedPlugin
    ) -> None:
        gauges = [item for item in registered(opened).values() if isinstance(item, Gauge)]
        with ThreadPoolExecutor(_THREADS) as pool:
            for gauge in gauges:
                calls = [pool.submit(_timed_read, gauge) for _ in range(_THREADS)]
                # The fastest, because the others may be slow on a busy machine.
                assert min(seconds for _, seconds in (call.result() for call in calls)) <= READ_SECONDS
                assert all(set(call.result()[0]) <= gauge.series for call in calls)

    def test_reading_a_gauge_starts_no_thread(self, opened: OpenedPlugin) -> None:
        gauges = [item for item in registered(opened).values() if isinstance(item, Gauge)]
        for gauge in gauges:
            gauge.values()
        before = threading.active_count()
        for gauge in gauges:
            gauge.values()
        assert threading.active_count() <= before


def _timed_read(gauge: Gauge) -> tuple[Mapping[Labels, float], float]:
    began = time.monotonic()
    values = gauge.values()
    return values, time.monotonic() - began


def _record(metric: Metric, labels: Labels) -> None:
    if isinstance(metric, Counter):
        metric.inc(*labels)
    elif isinstance(metric, Histogram):
        metric.observe(1, *labels)
