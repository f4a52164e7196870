"""The metrics that rules, dashboard and guide name exist, and promtool accepts the rules."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from generator.metrics import metric_rows
from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
PRODUCTION = ROOT / "examples/production"
PAGE = (ROOT / "docs/operate/monitoring.md").read_text()
NAME = re.compile(r"(?<![\w:])(?:strongroom|process)_[a-z_]+(?![\w:(])")
RECORDED = re.compile(r"\bstrongroom:[a-z_]+:[a-z0-9_]+")
RULES = ("strongroom-recording.yml", "strongroom-alerts.yml")


def rules() -> list[dict[str, Any]]:
    read = YAML(typ="safe").load
    groups = [group for name in RULES for group in read(PRODUCTION / name)["groups"]]
    return [rule for group in groups for rule in group["rules"]]


def series() -> set[str]:
    """Return the names of all series, as queries name them."""
    ends = {"histogram": ("_bucket", "_count", "_sum")}
    return {name + end for name, kind, *_ in metric_rows() for end in ends.get(kind, ("",))}


def queries_of_dashboard() -> Iterator[str]:
    dashboard = json.loads((PRODUCTION / "grafana-dashboard.json").read_text())
    for panel in dashboard["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))


ALERTS = [rule for rule in rules() if "alert" in rule]
QUERIES = [*(rule["expr"] for rule in rules()), *queries_of_dashboard()]


def test_each_query_names_existing_metrics_and_rules() -> None:
    recorded = {rule["record"] for rule in rules() if "record" in rule}
    metrics = series()
    assert [query for query in QUERIES if not set(NAME.findall(query)) <= metrics] == []
    assert [query for query in QUERIES if not set(RECORDED.findall(query)) <= recorded] == []
    named = [query for query in QUERIES if NAME.search(query) or RECORDED.search(query)]
    assert all(query.startswith("up{") for query in QUERIES if query not in named)
    assert named


def test_every_metric_is_on_the_dashboard_or_in_a_rule() -> None:
    used = {name for query in QUERIES for name in NAME.findall(query)}
    used = {re.sub("_(bucket|count|sum)$", "", name) for name in used}
    assert {name for name, *_ in metric_rows()} <= used


def test_every_alert_has_a_remedy() -> None:
    for alert in ALERTS:
        assert f"`{alert['alert']}`" in PAGE, alert["alert"]


def test_panels_have_unique_ids_and_do_not_overlap() -> None:
    panels = json.loads((PRODUCTION / "grafana-dashboard.json").read_text())["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for panel in panels
        for x in range(panel["gridPos"]["x"], panel["gridPos"]["x"] + panel["gridPos"]["w"])
        for y in range(panel["gridPos"]["y"], panel["gridPos"]["y"] + panel["gridPos"]["h"])
    ]
    assert len(set(cells)) == len(cells)


@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "config", str(PRODUCTION / "prometheus.yml")],
        ["test", "rules", *map(str, sorted((ROOT / "tests/docs").glob("*.test.yml")))],
    ],
    ids=["config", "rules"],
)
def test_promtool_accepts_the_configuration_and_the_tests_of_the_rules(arguments: list[str]) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not on this machine")
    result = subprocess.run([promtool, *arguments], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
