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
from tests.support.pages import blocks_of

ROOT = Path(__file__).parents[2]
PRODUCTION = ROOT / "examples/production"
RUNBOOKS_PAGE = ROOT / "docs/operate/runbooks.md"
REFERENCE = (ROOT / "docs/reference/commands.md").read_text()
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


def runbooks() -> Iterator[tuple[str, list[str], str]]:
    """Yield the title, the anchors and the text of each section of an alert."""
    pattern = r"((?:^\([a-z]+\)=\n)+)^## (.+)\n((?:(?!^\([a-z]+\)=).*\n)+)"
    for anchors, title, text in re.findall(pattern, RUNBOOKS_PAGE.read_text(), re.MULTILINE):
        yield title, re.findall(r"\((\w+)\)=", anchors), text


RUNBOOKS = list(runbooks())
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


def test_every_alert_links_its_own_section_of_the_runbooks() -> None:
    anchors = [anchor for _, names, _ in RUNBOOKS for anchor in names]
    assert sorted(anchors) == sorted(alert["alert"].lower() for alert in ALERTS)
    for alert in ALERTS:
        link = alert["annotations"]["runbook_url"]
        assert link == f"https://docs.example.com/operate/runbooks.html#{alert['alert'].lower()}"


@pytest.mark.parametrize(("title", "anchors", "text"), RUNBOOKS, ids=lambda value: str(value)[:30])
def test_each_runbook_is_complete(title: str, anchors: list[str], text: str) -> None:
    assert title.lower().split(", ") == anchors
    parts = re.findall(r"^\*\*(\w[\w ]*)\*\*: ", text, re.MULTILINE)
    assert parts == ["Means", "Users see", "Remedy", "Over"]
    between = text.partition("**Users see**")[2].partition("**Remedy**")[0]
    assert "```sh\n" in between, "the commands to look at"


def test_the_commands_of_runbooks_exist_and_name_metrics() -> None:
    """``test_pages`` runs those that need no other server; these are the others, too."""
    commands = set(re.findall(r"^## `strongroom (.+)`$", REFERENCE, re.MULTILINE))
    lines = [line for block in blocks_of(RUNBOOKS_PAGE) for line in block.content.splitlines()]
    invoked = [line.split() for line in lines if line.startswith("strongroom ")]
    assert len(invoked) > 20
    for _, *words in invoked:
        assert {words[0], " ".join(words[:2])} & commands, words
    prefixes = [line.split()[1] for line in lines if line.startswith("metric ")]
    assert len(prefixes) > 20
    for prefix in prefixes:
        assert any(name.startswith(prefix) for name in series()), prefix


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
