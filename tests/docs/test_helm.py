"""The Helm chart: linted and rendered by Helm's own library, and held to the manifests for kustomize."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from release.versions import current_version
from ruamel.yaml import YAML
from tests.support.nginx import PRODUCTION

ROOT = Path(__file__).parents[2]
CHART = ROOT / "examples/helm/strongroom"
BASE = PRODUCTION / "kubernetes/base"
VERSIONS = ("1.31", "1.37")
CUSTOM = {"ServiceMonitor"}  # of the Prometheus operator
FULL: dict[str, Any] = {
    "image": {"repository": "files.example.com/room", "tag": "v9", "pullSecrets": ["registry"]},
    "replicas": 10,
    "nodeSelector": {"pool": "files"},
    "tolerations": [{"key": "files", "operator": "Exists"}],
    "priorityClassName": "high",
    "ingress": {"enabled": True, "host": "files.example.org"},
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "backup": {"storageClassName": "fast"},
}
SMALL: dict[str, Any] = {"replicas": 1, "backup": {"enabled": False}, "spreadBy": []}
VALUES = pytest.mark.parametrize("values", [{}, FULL, SMALL], ids=["default", "full", "small"])


def documents(text: str) -> list[dict[str, Any]]:
    return [document for document in YAML(typ="safe").load_all(text) if document]


def render(values: dict[str, Any], revision: int = 1) -> list[dict[str, Any]]:
    helm = pytest.importorskip("helm_python", reason="NOT TESTED: Helm has no wheel for this machine")
    with helm.Chart.load(CHART) as chart:
        files = chart.render(values, name="files", namespace="prod", revision=revision)
    return [
        manifest
        for name, text in files.items()
        if name.endswith(".yaml")
        for manifest in documents(text)
    ]


def workloads(manifests: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the last part of the name of each workload, and the specification of its pods."""
    for manifest in manifests:
        if manifest["kind"] in ("Deployment", "Job", "CronJob"):
            spec = manifest["spec"]
            spec = spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec
            name = manifest["metadata"]["name"].removesuffix("-1").partition("-")[2]
            yield name, spec["template"]["spec"]


@VALUES
def test_lint_has_no_warnings(values: dict[str, Any]) -> None:
    helm = pytest.importorskip("helm_python", reason="NOT TESTED: Helm has no wheel for this machine")
    report = helm.lint(CHART, values, strict=True)
    assert report["errors"] == []
    # A chart without a picture is no fault.
    assert [message["error"] for message in report["messages"]] == ["icon is recommended"]


@VALUES
def test_each_manifest_follows_the_schema(values: dict[str, Any]) -> None:
    import kubernetes_validate

    manifests = render(values)
    for manifest in manifests:
        for version in VERSIONS:
            if manifest["kind"] not in CUSTOM:
                kubernetes_validate.validate(manifest, version, strict=True)
    kinds = {manifest["kind"] for manifest in manifests}
    assert ("Ingress" in kinds) == ("ServiceMonitor" in kinds) == (values is FULL)
    assert ("PersistentVolumeClaim" in kinds) == (values is not SMALL)
    names = [(manifest["kind"], manifest["metadata"]["name"]) for manifest in manifests]
    assert len(names) == len(set(names))


def comparable(pod: dict[str, Any]) -> dict[str, Any]:
    """Return what the chart and the manifests for kustomize have in common."""
    (container,) = pod["containers"]
    container = {
        key: value for key, value in container.items() if key not in ("image", "imagePullPolicy")
    }
    container["env"] = sorted(container["env"], key=lambda item: item["name"])
    others = {
        key: value
        for key, value in pod.items()
        if key not in ("containers", "serviceAccountName", "topologySpreadConstraints", "volumes")
    }
    kinds = {volume["name"]: next(key for key in volume if key != "name") for volume in pod["volumes"]}
    return {**others, "container": container, "volumes": kinds}


def test_the_pods_are_those_of_the_manifests_for_kustomize() -> None:
    names = {"": "server.yaml", "schema": "schema.yaml", "prune": "prune.yaml", "backup": "backup.yaml"}
    rendered = dict(workloads(render({})))
    assert rendered.keys() == names.keys()
    for part, name in names.items():
        ((_, pod),) = workloads(documents((BASE / name).read_text()))
        assert comparable(rendered[part]) == comparable(pod), name


def test_services_select_the_pods_of_the_server_alone() -> None:
    manifests = render({})
    pods = [
        manifest["spec"].get("jobTemplate", manifest)["spec"]["template"]["metadata"]["labels"]
        for manifest in manifests
        if manifest["kind"] in ("Deployment", "Job", "CronJob")
    ]
    selectors = [item["spec"]["selector"] for item in manifests if item["kind"] == "Service"]
    selectors += [
        item["spec"]["selector"]["matchLabels"]
        for item in manifests
        if item["kind"] in ("Deployment", "PodDisruptionBudget")
    ]
    for selector in selectors:
        (labels,) = [labels for labels in pods if selector.items() <= labels.items()]
        assert labels["app.kubernetes.io/name"] == "strongroom"


def test_the_default_configuration_is_that_of_the_manifests() -> None:
    import tomllib

    (config,) = [item for item in render({}) if item["kind"] == "ConfigMap"]
    text = config["data"]["strongroom.toml"]
    assert tomllib.loads(text) == tomllib.loads((BASE / "strongroom.toml").read_text())
    values = YAML(typ="safe").load(CHART / "values.yaml")
    drain = tomllib.loads(text)["server"]["drain_seconds"]
    assert values["terminationGracePeriodSeconds"] >= drain + 30


def test_pods_restart_for_a_changed_configuration_and_each_release_has_its_schema_job() -> None:
    texts = ("[server]\n", "[server]\nworkers = 3\n")
    first, second = (render({"config": text}, number) for number, text in enumerate(texts, 1))
    sums = [
        item["spec"]["template"]["metadata"]["annotations"]["checksum/config"]
        for manifests in (first, second)
        for item in manifests
        if item["kind"] == "Deployment"
    ]
    assert len(set(sums)) == 2
    jobs = [item["metadata"]["name"] for item in (*first, *second) if item["kind"] == "Job"]
    assert jobs == ["files-schema-1", "files-schema-2"]


def test_the_image_is_that_of_this_version() -> None:
    images = {pod["containers"][0]["image"] for _, pod in workloads(render({}))}
    assert images == {f"registry.example.com/strongroom:v{current_version(ROOT)}"}
    images = {pod["containers"][0]["image"] for _, pod in workloads(render(FULL))}
    assert images == {"files.example.com/room:v9"}


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"replica": 3}, "replica"),
        ({"replicas": 0}, "replicas"),
        ({"backup": {"keptDays": 3}}, "keptDays"),
        ({"backup": {"schedule": "nightly"}}, "schedule"),
        ({"secret": {"files": {"SECRET_KEY": "secret_key"}}}, "SECRET_KEY"),
        ({"resources": {"limits": {"memory": None}}}, "memory"),
    ],
)
def test_wrong_values_are_refused_by_name(values: dict[str, Any], place: str) -> None:
    helm = pytest.importorskip("helm_python", reason="NOT TESTED: Helm has no wheel for this machine")
    with helm.Chart.load(CHART) as chart, pytest.raises(helm.HelmError, match=place):
        chart.validate_schema(values)


def compose_script() -> str:
    """Return what the service of compose does each day."""
    compose = YAML(typ="safe").load(PRODUCTION / "compose.yaml")
    (text,) = compose["services"]["backup"]["command"]
    begin, _, rest = text.replace("$$", "$").partition("while true; do\n")
    return f"{begin}{rest.partition('sleep 86400')[0]}"


def kubernetes_script() -> str:
    ((_, pod),) = workloads(documents((BASE / "backup.yaml").read_text()))
    (text,) = pod["containers"][0]["args"]
    return str(text)


def test_the_backups_of_kubernetes_and_compose_are_incremental_within_a_week(
    config: Path, tmp_path: Path
) -> None:
    lines = [
        [line.strip() for line in script.splitlines() if not line.lstrip().startswith("#")]
        for script in (kubernetes_script(), compose_script())
    ]
    assert lines[0] == [line for line in lines[1] if line]
    folder = tmp_path / "archives"
    folder.mkdir()
    script = kubernetes_script().replace("/var/backups/strongroom", str(folder))
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    env = {**os.environ, "PATH": path, "STRONGROOM_CONFIG": str(config)}
    archives = []
    for _ in range(2):
        run = subprocess.run(["sh", "-ec", script], env=env, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stderr
        archives.append({path.name for path in folder.iterdir()})
    (week,) = archives[0]
    assert week.startswith("week-")
    (new,) = archives[1] - archives[0]
    verify = ["strongroom", "backup", "verify", "--json", str(folder / new)]
    for is_complete in (True, False):
        result = subprocess.run(verify, env=env, capture_output=True, text=True, check=False)
        assert (result.returncode == 0) == is_complete, result.stderr
        if is_complete:
            (folder / week).rename(tmp_path / week)
    assert "put it next to the archive" in result.stderr
