"""The metrics of plugins: those that their code records, and gauges that are read at each scrape."""

import logging
from collections import Counter as Counts
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from functools import cache
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Histogram

from strongroom.extensions.observability.bounded_calls import PATIENCE_SECONDS, BoundedCalls
from strongroom.extensions.observability.clock_skew_metric import CLOCK_SKEW
from strongroom.extensions.observability.disks import DISK_FAMILIES
from strongroom.extensions.observability.families import BUILD_INFO, PART_UP, Family, Sample
from strongroom.extensions.observability.metrics import Metrics
from strongroom.extensions.observability.process_metrics import PROCESS_FAMILIES
from strongroom.extensions.observability.totals import TOTAL_FAMILIES
from strongroom.plugin_api import metrics as api

logger = logging.getLogger(__name__)

GAUGE_ERRORS: Final = Family(
    "strongroom_gauge_read_errors",
    "Readings of gauges of plugins that failed or took too long.",
    ("gauge",),
    kind="counter",
)

CORE_FAMILIES: Final = (
    PART_UP,
    BUILD_INFO,
    GAUGE_ERRORS,
    CLOCK_SKEW,
    *DISK_FAMILIES,
    *PROCESS_FAMILIES,
    *TOTAL_FAMILIES,
)
"""The metrics of the core that are read at each scrape."""

_Values = Mapping[api.Labels, float]


def taken_name(core: Metrics, metrics: Mapping[str, api.Metric]) -> str | None:
    """Return the name of a plugin's metric that the core has too, or ``None``."""
    names = {family.name for family in CORE_FAMILIES}.union(core.names)
    return next((name for name in metrics if name in names), None)


def record_in(registry: CollectorRegistry, metrics: Mapping[str, api.Metric]) -> None:
    """Record the counters and histograms of plugins in a registry from now on."""
    for name, metric in metrics.items():
        if isinstance(metric, api.Counter):
            counter = Counter(name, metric.help, metric.labels, registry=registry)
            _attach(metric, counter, "inc")
        elif isinstance(metric, api.Histogram):
            histogram = Histogram(
                name, metric.help, metric.labels, registry=registry, buckets=metric.buckets
            )
            _attach(metric, histogram, "observe")


def _attach(metric: "api.Counter | api.Histogram", series: Any, method: str) -> None:
    """Make a metric call a method of its time series."""

    @cache
    def find_record(labels: api.Labels) -> Any:
        return getattr(series.labels(*labels) if labels else series, method)

    # Each declared series begins with 0, so that the first increase is visible to rate().
    for labels in metric.series:
        find_record(labels)
    metric.attach(lambda labels, amount: find_record(labels)(amount))


class PluginGauges:
    """Reads the gauges of plugins. One that fails is missing, and breaks no other.

    Args:
        metrics: the metrics by name; those that are no gauges are ignored.
        patience: the time limit of a reading in seconds.
    """

    def __init__(self, metrics: Mapping[str, api.Metric], patience: float = PATIENCE_SECONDS) -> None:
        gauges = {name: gauge for name, gauge in metrics.items() if isinstance(gauge, api.Gauge)}
        self._families = {name: gauge_family(name, gauge) for name, gauge in gauges.items()}
        self._calls = BoundedCalls[_Values](
            {name: gauge.values for name, gauge in gauges.items()}, patience, "gauges"
        )
        self._errors = Counts(dict.fromkeys(gauges, 0))
        self._failing: set[str] = set()

    def __call__(self) -> Iterator[tuple[Family, list[Sample]]]:
        """Yield the metrics."""
        for name, call in self._calls.results().items():
            if self._has_failed(name, call) or call is None:
                continue
            yield self._families[name], list(call.result().items())
        yield GAUGE_ERRORS, [((name,), count) for name, count in self._errors.items()]

    def _has_failed(self, name: str, call: Future[_Values] | None) -> bool:
        error = call.exception() if call else TimeoutError("it takes too long")
        if error is None:
            self._failing.discard(name)
            return False
        self._errors[name] += 1
        if name not in self._failing:
            # Once until it works again: there is a scrape every few seconds.
            self._failing.add(name)
            logger.warning("The gauge %s cannot be read", name, exc_info=error)
        return True


def gauge_family(name: str, gauge: api.Gauge) -> Family:
    """Return the metric of a gauge."""
    return Family(name, gauge.help, tuple(gauge.labels))
