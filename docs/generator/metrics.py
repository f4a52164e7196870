"""The page of all metrics."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import Metric

from strongroom.observability.families import BUILD_INFO, PART_UP, Family
from strongroom.observability.metrics import Metrics
from strongroom.observability.process_metrics import PROCESS_FAMILIES
from strongroom.observability.totals import TOTAL_FAMILIES

COLLECTED = (PART_UP, BUILD_INFO, *PROCESS_FAMILIES, *TOTAL_FAMILIES)

INTRODUCTION = (
    "# Metrics\n\n"
    "The metrics of `/metrics` of the [management interface](../operate/monitoring.md). Counters and\n"
    "histograms are summed over all processes of an instance, and remain when a process ends. Those of\n"
    "the installation are read from the database, and are the same on each instance: use `max`, not\n"
    "`sum`.\n\n"
)


def metrics_page() -> Iterator[str]:
    """Yield the parts of the page."""
    yield INTRODUCTION
    yield "| metric | kind | labels | meaning |\n|---|---|---|---|\n"
    for name, kind, labels, meaning in sorted(metric_rows()):
        shown = ", ".join(f"`{label}`" for label in labels)
        yield f"| `{name}` | {kind} | {shown} | {meaning} |\n"


def metric_rows() -> Iterator[tuple[str, str, tuple[str, ...], str]]:
    """Yield the name, as queries spell it, the kind, the labels and the meaning of each metric."""
    registry = CollectorRegistry()
    metrics = Metrics(registry)
    labels = {item._name: item._labelnames for item in metrics.instruments}  # noqa: SLF001  not public
    for item in registry.collect():
        yield _name(item), item.type, tuple(labels[item.name]), item.documentation
    for family in COLLECTED:
        yield _name_of(family), family.kind, tuple(family.labels), family.meaning


def _name(metric: Metric) -> str:
    return f"{metric.name}_total" if metric.type == "counter" else metric.name


def _name_of(family: Family) -> str:
    return f"{family.name}_total" if family.kind == "counter" else family.name
