"""The page of all metrics."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

from generator.kinds import shipped
from strongroom.assembly.plugin_host.hosts import offline_hosts
from strongroom.assembly.plugin_host.part import plugin_parts
from strongroom.assembly.registry import Registry
from strongroom.extensions.observability.families import Family
from strongroom.extensions.observability.metrics import Metrics
from strongroom.extensions.observability.plugin_metrics import CORE_FAMILIES
from strongroom.foundation.config import Settings
from strongroom.plugin_api.metrics import Counter, Histogram
from strongroom.plugin_api.metrics import Metric as PluginMetric

INTRODUCTION = (
    "# Metrics\n\n"
    "The metrics of `/metrics` of the [management interface](../operate/monitoring.md). Counters and\n"
    "histograms are summed over all processes of an instance, and remain when a process ends. Those of\n"
    "the installation are read from the database, and are the same on each instance: use `max`, not\n"
    "`sum`.\n\n"
)
OF_PLUGINS = (
    "\n## Of plugins\n\n"
    "Each instance reads the gauges of plugins at each scrape: use `max`.\n"
    "[The tutorial](../tutorials/metrics.md) describes how a plugin adds metrics.\n\n"
)
HEAD = "| metric | kind | labels | meaning |\n|---|---|---|---|\n"

Row = tuple[str, str, tuple[str, ...], str]
"""The name, as queries spell it, the kind, the labels and the meaning of a metric."""


def metrics_page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield INTRODUCTION + HEAD
    yield from map(_line, sorted(_core_rows()))
    yield OF_PLUGINS + HEAD
    yield from map(_line, sorted(_plugin_rows()))


def metric_rows() -> Iterator[Row]:
    """Yield the rows of all metrics."""
    yield from _core_rows()
    yield from _plugin_rows()


def _line(row: Row) -> str:
    name, kind, labels, meaning = row
    shown = ", ".join(f"`{label}`" for label in labels)
    return f"| `{name}` | {kind} | {shown} | {meaning} |\n"


def _plugin_rows() -> Iterator[Row]:
    hosts = offline_hosts(Settings(), shipped(), {})
    for name, metric in Registry((), plugin_parts(hosts)).metrics().items():
        kind = _kind(metric)
        shown = f"{name}_total" if kind == "counter" else name
        yield shown, kind, tuple(metric.labels), metric.help


def _kind(metric: PluginMetric) -> str:
    if isinstance(metric, Counter):
        return "counter"
    return "histogram" if isinstance(metric, Histogram) else "gauge"


def _core_rows() -> Iterator[Row]:
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    labels = {item._name: item._labelnames for item in metrics.instruments}  # noqa: SLF001  not public
    for item in registry.collect():
        yield _name(item), item.type, tuple(labels[item.name]), item.documentation
    for family in CORE_FAMILIES:
        yield _name_of(family), family.kind, tuple(family.labels), family.meaning


def _name(metric: Metric) -> str:
    return f"{metric.name}_total" if metric.type == "counter" else metric.name


def _name_of(family: Family) -> str:
    return f"{family.name}_total" if family.kind == "counter" else family.name
