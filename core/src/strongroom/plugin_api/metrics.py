"""Metrics of a plugin, for ``/metrics`` of the management interface.

A plugin declares its metrics where it counts, and registers them by one hook::

    IMPORTS = Counter("imports", "Finished imports.", labels={"outcome": ("success", "failure")})
    IMPORT_TIME = Histogram("import", "Duration of imports.", unit="seconds")

    @hookimpl
    def register_metrics(host: HostAPI) -> list[Metric]:
        waiting = Gauge("waiting_files", "Files that wait for their import.", lambda: count(host))
        return [IMPORTS, IMPORT_TIME, waiting]

    IMPORTS.inc("success")

The names are ``strongroom_PLUGIN_NAME_UNIT``; a counter has ``_total`` at its end. The server sums the
counters and histograms of all its processes. A gauge is read once at each scrape, by one process of the
server, so it reports what the plugin's tables or another system contain, and no variable of a process.

The values of labels are declared, so that the number of time series is bounded and no label contains
input of clients or a secret. Without a management interface, a metric costs almost nothing.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from types import MappingProxyType
from typing import Final, Literal

Labels = tuple[str, ...]
"""The values of the labels of one time series, in the order of their declaration."""

Unit = Literal["", "bytes", "ratio", "seconds"]
"""The base units of Prometheus."""

Recorder = Callable[[Labels, float], None]
"""Records an amount for a time series."""

Reading = float | Mapping[Labels, float] | None
"""What a gauge reads: a number, or numbers by the values of the labels; ``None`` if unknown."""

OTHER: Final = "other"
"""The label of a counter or histogram instead of a value that was not declared."""

MOST_SERIES: Final = 100
"""The maximum number of combinations of labels of one metric."""

SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""The default buckets of histograms: durations from a millisecond to half a minute."""

_MOST_BUCKETS: Final = 20
_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_NAME_LENGTH: Final = 60
_VALUE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}")
_UNITS: Final = ("", "bytes", "ratio", "seconds")
# The Prometheus library appends these to names.
_SUFFIXES: Final = ("_total", "_count", "_sum", "_bucket", "_created", "_info")
# Prometheus and its library set these labels.
_RESERVED_LABELS: Final = frozenset({"instance", "job", "le", "pid", "quantile"})
_NO_LABELS: Final[Mapping[str, Sequence[str]]] = MappingProxyType({})


class Metric:
    """A metric of a plugin: a :class:`Counter`, a :class:`Histogram` or a :class:`Gauge`.

    Args:
        name: the name within the plugin: lowercase letters, digits and underscores, without the unit.
        help: what it counts or measures, one sentence.
        unit: the base unit of the value, which is appended to the name.
        labels: the possible values of each label.

    Raises:
        ValueError: an argument is invalid.
    """

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002  the term of Prometheus
        *,
        unit: Unit = "",
        labels: Mapping[str, Sequence[str]] = _NO_LABELS,
    ) -> None:
        self.name: Final = f"{name}_{unit}" if unit else name
        self.help: Final = help
        self.labels: Final = {label: tuple(values) for label, values in labels.items()}
        if fault := _name_fault(self.name, unit) or _label_fault(self.labels):
            raise ValueError(f"the metric {name!r}: {fault}")
        if not help.endswith("."):
            raise ValueError(f"the metric {name!r}: its help must be a sentence")
        self.series: Final = frozenset(product(*self.labels.values()))
        """The declared time series."""


class _Recorded(Metric):
    """A metric that the plugin's code records."""

    _recorder: Recorder | None = None

    def attach(self, recorder: Recorder) -> None:
        """Record with a function from now on; for the core and for tests only."""
        self._recorder = recorder

    def _record(self, labels: Labels, amount: float) -> None:
        series = labels if labels in self.series else self._declared(labels)
        if self._recorder is not None:
            self._recorder(series, amount)

    def _declared(self, labels: Labels) -> Labels:
        """Replace values that were not declared: counting must not fail where something happens."""
        if len(labels) != len(self.labels):
            raise TypeError(f"the metric {self.name} has the labels {[*self.labels]}")
        known = zip(labels, self.labels.values(), strict=True)
        return tuple(value if value in values else OTHER for value, values in known)


class Counter(_Recorded):
    """Counts what happens. Its value never falls; all threads may use it."""

    def inc(self, *labels: str, by: float = 1) -> None:
        """Add to the time series of the labels' values, in the order of their declaration.

        Raises:
            TypeError: there are more or fewer values than labels.
            ValueError: ``by`` is negative.
        """
        if by < 0:
            raise ValueError(f"the counter {self.name} cannot fall")
        self._record(labels, by)


class Histogram(_Recorded):
    """Measures durations or sizes, as numbers of values up to each bucket. All threads may use it.

    Args:
        buckets: the upper bounds, ascending, in the unit.
    """

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002  the term of Prometheus
        *,
        unit: Unit = "",
        labels: Mapping[str, Sequence[str]] = _NO_LABELS,
        buckets: Sequence[float] = SECONDS,
    ) -> None:
        super().__init__(name, help, unit=unit, labels=labels)
        self.buckets: Final = tuple(buckets)
        if not 0 < len(self.buckets) <= _MOST_BUCKETS or sorted(set(buckets)) != [*buckets]:
            raise ValueError(f"the metric {name!r}: it needs 1 to {_MOST_BUCKETS} ascending buckets")

    def observe(self, value: float, *labels: str) -> None:
        """Add a value to the time series of the labels' values, in the order of their declaration.

        Raises:
            TypeError: there are more or fewer values than labels.
        """
        self._record(labels, value)


class Gauge(Metric):
    """A number that is read at each scrape, of the whole installation.

    Each server reads it, so queries use ``max``, not ``sum``. A reading that fails or takes longer than
    two seconds is missing from ``/metrics``; the log has the reason once, and
    ``strongroom_gauge_read_errors_total`` counts it.

    Args:
        read: returns the value, or the values by the labels' values, such as ``{("disabled",): 2}``.
            It is called in any thread, outside of requests.
    """

    def __init__(
        self,
        name: str,
        help: str,  # noqa: A002  the term of Prometheus
        read: Callable[[], Reading],
        *,
        unit: Unit = "",
        labels: Mapping[str, Sequence[str]] = _NO_LABELS,
    ) -> None:
        super().__init__(name, help, unit=unit, labels=labels)
        self._read = read

    def values(self) -> Mapping[Labels, float]:
        """Read the values by the labels' values.

        Raises:
            ValueError: a time series was not declared.
            Exception: the function failed.
        """
        reading = self._read()
        if reading is None:
            return {}
        values = reading if isinstance(reading, Mapping) else {(): reading}
        if unknown := values.keys() - self.series:
            raise ValueError(f"the gauge {self.name} did not declare {sorted(unknown)}")
        return {series: float(value) for series, value in values.items()}


def _name_fault(name: str, unit: str) -> str | None:
    if not _NAME.fullmatch(name) or len(name) > _NAME_LENGTH:
        return f'its name must be at most {_NAME_LENGTH} lowercase letters, digits and "_"'
    if name.endswith(_SUFFIXES):
        return f"its name must not end with {', '.join(_SUFFIXES)}"
    return None if unit in _UNITS else "its unit must be bytes, ratio or seconds"


def _label_fault(labels: Mapping[str, Labels]) -> str | None:
    for label, values in labels.items():
        if not _NAME.fullmatch(label) or label in _RESERVED_LABELS:
            return f"the label {label!r} is invalid or reserved"
        if not values or len({*values}) < len(values) or not all(map(_VALUE.fullmatch, values)):
            return f"the values of the label {label} must be different words"
    count = len(list(product(*labels.values())))
    return f"{count} time series exceed {MOST_SERIES}" if count > MOST_SERIES else None
