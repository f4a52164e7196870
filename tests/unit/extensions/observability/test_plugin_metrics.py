"""Metrics of plugins: their declarations, their names, and gauges that fail or hang."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from tests.support.waiting import STALL_SECONDS, wait_until

from strongroom.assembly.container import build
from strongroom.extensions.observability.families import FamilyCollector
from strongroom.extensions.observability.plugin_metrics import PluginGauges, record_in
from strongroom.foundation import config
from strongroom.foundation.plugins.plugin import PluginError
from strongroom.plugin_api.metrics import MOST_SERIES, Counter, Gauge, Histogram, Metric
from strongroom.testing.server import to_toml

TWO = {"outcome": ("success", "failure")}


def text_of(gauges: PluginGauges) -> str:
    registry = CollectorRegistry()
    registry.register(FamilyCollector(gauges))
    return generate_latest(registry).decode()


@pytest.mark.parametrize(
    ("declare", "reason"),
    [
        (lambda: Counter("Imports", "Imports."), "its name"),
        (lambda: Counter("a" * 61, "Imports."), "its name"),
        (lambda: Counter("imports_total", "Imports."), "must not end"),
        (lambda: Counter("imports", "imports"), "a sentence"),
        (lambda: Counter("imports", "Imports.", unit="hours"), "its unit"),  # type: ignore[arg-type]
        (lambda: Counter("imports", "Imports.", labels={"le": ("a",)}), "the label 'le'"),
        (lambda: Counter("imports", "Imports.", labels={"a": ()}), "the values of the label a"),
        (lambda: Counter("imports", "Imports.", labels={"a": ("x", "x")}), "different words"),
        (lambda: Counter("imports", "Imports.", labels={"a": ("x y",)}), "different words"),
        (
            lambda: Counter("imports", "Imports.", labels={"a": [*map(str, range(MOST_SERIES + 1))]}),
            f"{MOST_SERIES + 1} time series",
        ),
        (lambda: Histogram("time", "Time.", buckets=()), "buckets"),
        (lambda: Histogram("time", "Time.", buckets=(2, 1)), "buckets"),
    ],
)
def test_an_invalid_metric_is_refused(declare: Callable[[], Metric], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        declare()


def test_counters_and_histograms_are_recorded_from_zero_on() -> None:
    count, time = (
        Counter("imports", "Imports.", labels=TWO),
        Histogram("import", "Time.", unit="seconds"),
    )
    count.inc("success")  # recorded nowhere
    registry = CollectorRegistry()
    record_in(registry, {"strongroom_acme_imports": count, "strongroom_acme_import_seconds": time})
    count.inc("success", by=2)
    count.inc("of a client")
    time.observe(0.3)
    found = registry.get_sample_value
    values = [
        found("strongroom_acme_imports_total", {"outcome": outcome})
        for outcome in ("success", "failure", "other", "of a client")
    ]
    assert values == [2, 0, 1, None]
    assert found("strongroom_acme_import_seconds_sum") == 0.3
    assert found("strongroom_acme_import_seconds_bucket", {"le": "0.25"}) == 0
    assert found("strongroom_acme_import_seconds_bucket", {"le": "0.5"}) == 1


def test_labels_are_as_many_as_declared_and_counters_do_not_fall() -> None:
    count = Counter("imports", "Imports.", labels=TWO)
    for labels in ((), ("success", "success")):
        with pytest.raises(TypeError, match="has the labels"):
            count.inc(*labels)
    with pytest.raises(ValueError, match="cannot fall"):
        count.inc("success", by=-1)


def test_a_gauge_that_hangs_is_missing_and_is_not_called_again(caplog: pytest.LogCaptureFixture) -> None:
    answer, calls = threading.Event(), []

    def hang() -> float:
        calls.append(True)
        answer.wait(STALL_SECONDS)
        return 1

    gauges = PluginGauges(
        {"slow": Gauge("slow", "Slow.", hang), "good": Gauge("good", "Good.", lambda: 2)}, patience=0.05
    )
    readings = [text_of(gauges) for _ in range(3)]
    # On a busy machine, the good one may be late, too.
    while "good 2.0" not in readings[-1]:
        readings.append(text_of(gauges))
    for number, text in enumerate(readings, 1):
        late = sum("good 2.0" not in earlier for earlier in readings[:number])
        assert f'strongroom_gauge_read_errors_total{{gauge="slow"}} {number}.0' in text
        assert f'strongroom_gauge_read_errors_total{{gauge="good"}} {late}.0' in text
    assert len(calls) == 1
    assert caplog.text.count("The gauge slow cannot be read") == 1
    answer.set()
    wait_until(lambda: "slow 1.0" in text_of(gauges))


def test_a_gauge_that_fails_again_is_logged_again(caplog: pytest.LogCaptureFixture) -> None:
    faults: list[Exception] = []

    def read() -> float:
        if faults:
            raise faults[0]
        return 1

    gauges = PluginGauges({"unsteady": Gauge("unsteady", "Unsteady.", read)}, patience=60)
    for count in (1, 2):
        faults.append(OSError("away"))
        assert "unsteady 1.0" not in text_of(gauges) + text_of(gauges)
        assert caplog.text.count("The gauge unsteady cannot be read") == count
        faults.clear()
        assert "unsteady 1.0" in text_of(gauges)


PLUGIN = """
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.metrics import Counter, Gauge

API_VERSION = "2.0"

@hookimpl
def register_metrics(host):
    return [{}]
"""


@pytest.mark.parametrize(
    ("name", "items", "reason"),
    [
        ("acme", "1", "expected a Metric"),
        ("acme", "Counter('a', 'A.'), Gauge('a', 'A.', float)", "has a second metric of the name"),
        ("acme", "Counter('A', 'A.')", "failed in register_metrics: ValueError: the metric 'A'"),
        ("event", "Gauge('dead_letters', 'Dead.', float)", "the core has a metric of the name"),
        ("job", "Counter('runs', 'Runs.')", "the core has a metric of the name strongroom_job_runs"),
    ],
)
def test_a_plugin_with_invalid_metrics_is_refused(
    tmp_path: Path, name: str, items: str, reason: str
) -> None:
    folder = tmp_path / "plugins.d"
    folder.mkdir()
    (folder / f"{name}.py").write_text(PLUGIN.format(items))
    table: dict[str, Any] = {
        "server": {"data_dir": str(tmp_path / "data")},
        "plugins": {"enabled": ["storage_local"], "folder": str(folder)},
        "management": {"port": 18001},
    }
    path = tmp_path / "strongroom.toml"
    path.write_text(to_toml(table))
    container = build(config.load(path, {}))
    with pytest.raises(PluginError, match=reason):
        container.register_metrics()
    container.close()
