"""Metrics that are read at each scrape, in the process of the management interface."""

import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from strongroom.plugin_api import API_VERSION
from strongroom.version import __version__

Sample = tuple[Sequence[str], float]
"""The values of the labels, and the value."""


@dataclass(frozen=True, slots=True)
class Family:
    """A metric.

    Args:
        name: the name, without ``_total``.
        meaning: one sentence.
        kind: whether it only grows.
    """

    name: str
    meaning: str
    labels: tuple[str, ...] = ()
    kind: Literal["gauge", "counter"] = "gauge"

    def metric(self, samples: Iterable[Sample]) -> Metric:
        """Return the metric with its values."""
        make = GaugeMetricFamily if self.kind == "gauge" else CounterMetricFamily
        family = make(self.name, self.meaning, labels=self.labels)
        for labels, value in samples:
            family.add_metric(list(labels), value)
        return family


@dataclass(slots=True, eq=False, repr=False)
class FamilyCollector:
    """Collects metrics from a function, as a collector of the Prometheus library.

    Args:
        collect: returns the samples by the metric; metrics that cannot be read are missing.
    """

    _collect: Callable[[], Iterable[tuple[Family, Iterable[Sample]]]]

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics."""
        for family, samples in self._collect():
            yield family.metric(samples)

    def describe(self) -> Iterator[Metric]:
        """Return nothing, so that registering the collector reads nothing."""
        return iter(())


PART_UP: Final = Family("strongroom_part_up", "1 if a part is available; see `/readyz`.", ("part",))
BUILD_INFO: Final = Family(
    "strongroom_build_info",
    "Always 1; the labels name the versions of the server, of Python and of the plugin API.",
    ("version", "python", "plugin_api"),
)


def build_info() -> Iterator[tuple[Family, list[Sample]]]:
    """Yield the versions of this server."""
    yield BUILD_INFO, [((__version__, platform.python_version(), API_VERSION), 1)]
