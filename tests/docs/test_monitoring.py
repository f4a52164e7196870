"""The metrics of the monitoring guide exist."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from ruamel.yaml import YAML

from strongroom.observability.metrics import Metrics

ROOT = Path(__file__).parents[2]
PRODUCTION = ROOT / "examples/production"
PAGE = (ROOT / "docs/operate/monitoring.md").read_text()
OF_PARTS = "strongroom_part_up"
NAME = re.compile(r"\bstrongroom_[a-z_]+")


def names() -> set[str]:
    """Return the names of all metrics, as queries name them."""
    registry = CollectorRegistry()
    Metrics(registry)
    ends = {"counter": "_total"}
    return {OF_PARTS} | {item.name + ends.get(item.type, "") for item in registry.collect()}


def alerts() -> list[dict[str, Any]]:
    groups = YAML(typ="safe").load(PRODUCTION / "strongroom-alerts.yml")["groups"]
    return [rule for group in groups for rule in group["rules"]]


def test_every_metric_is_described() -> None:
    (table,) = re.findall(r"\| metric \|.*?\n\n", PAGE, re.DOTALL)
    assert set(NAME.findall(table)) == names()


def test_an_alert_queries_existing_metrics_and_names_a_remedy() -> None:
    known = names() | {f"{name}_bucket" for name in names()}
    for alert in alerts():
        used = set(NAME.findall(alert["expr"]))
        assert used <= known, alert["alert"]
        assert used or alert["expr"].startswith("up{")
        assert f"| `{alert['alert']}` |" in PAGE


def test_prometheus_takes_its_configuration_and_the_rules() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not on this machine")
    command = [promtool, "check", "config", str(PRODUCTION / "prometheus.yml")]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
