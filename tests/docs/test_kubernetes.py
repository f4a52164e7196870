"""The manifests for Kubernetes: rendered by kustomize, and checked against the schemas of Kubernetes."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import pytest
from release.versions import current_version
from ruamel.yaml import YAML
from tests.support.commands import run_command
from tests.support.nginx import PRODUCTION
from tests.support.production import OWN_MAIL, OWN_STORE
from tests.support.source_tree import succeed

from strongroom.identity.sessions.signing_keys import create_key_file

FOLDER = PRODUCTION / "kubernetes"
VERSIONS = ("1.31", "1.37")
PLAIN = sorted(path for path in FOLDER.rglob("*.yaml") if path.name != "kustomization.yaml")
OVERLAYS = sorted(path.name for path in (FOLDER / "overlays").iterdir())
CUSTOM = {"ServiceMonitor"}  # of the Prometheus operator
WORKLOADS = ("Deployment", "Job", "CronJob")
FOLDER_OF_SECRETS = "/etc/strongroom/secrets"


def documents(text: str) -> list[dict[str, Any]]:
    return list(YAML(typ="safe").load_all(text))


@pytest.fixture(scope="module", params=OVERLAYS)
def rendered(request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    kubectl = shutil.which("kubectl")
    if kubectl is None:
        pytest.skip("kubectl is not on this machine")
    return documents(succeed(FOLDER, kubectl, "kustomize", f"overlays/{request.param}"))


def pods(manifests: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the specification of the pods of each workload."""
    for manifest in manifests:
        if manifest["kind"] in WORKLOADS:
            spec = manifest["spec"]
            yield (spec["jobTemplate"]["spec"] if "jobTemplate" in spec else spec)["template"]["spec"]


def check_schemas(manifests: list[dict[str, Any]]) -> None:
    # Takes a second, which each process that collects tests would spend.
    import kubernetes_validate

    for manifest in manifests:
        for version in VERSIONS:
            if manifest["kind"] not in CUSTOM:
                kubernetes_validate.validate(manifest, version, strict=True)


@pytest.mark.parametrize("path", PLAIN, ids=lambda path: str(path.relative_to(FOLDER)))
def test_each_manifest_follows_the_schema(path: Path) -> None:
    check_schemas(documents(path.read_text()))


def test_a_manifest_that_violates_the_schema_is_found() -> None:
    from kubernetes_validate import ValidationError

    with pytest.raises(ValidationError):
        check_schemas([{"apiVersion": "v1", "kind": "Service", "spec": {"prots": []}}])


def test_each_overlay_is_rendered_with_the_image_of_this_version(rendered: list[dict[str, Any]]) -> None:
    check_schemas(rendered)
    image = f"registry.example.com/strongroom:v{current_version(PRODUCTION.parents[1])}"
    assert {pod["containers"][0]["image"] for pod in pods(rendered)} == {image}
    assert len({manifest["metadata"]["namespace"] for manifest in rendered}) == 1


def test_each_pod_has_the_least_rights(rendered: list[dict[str, Any]]) -> None:
    found = list(pods(rendered))
    # The overlay without backups has no job for them, and no volume of theirs.
    has_backups = any(manifest["metadata"]["name"] == "strongroom-backup" for manifest in rendered)
    has_volume = any(manifest["metadata"]["name"] == "strongroom-backups" for manifest in rendered)
    is_staging = rendered[0]["metadata"]["namespace"] == "strongroom-staging"
    assert has_backups == has_volume == (not is_staging)
    assert len(found) == len(("server", "schema", "prune")) + has_backups
    for pod in found:
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        (container,) = pod["containers"]
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["limits"]["memory"]


def test_each_pod_mounts_the_rendered_configuration(rendered: list[dict[str, Any]]) -> None:
    (config,) = (manifest for manifest in rendered if manifest["kind"] == "ConfigMap")
    assert config["data"]["strongroom.toml"] == (FOLDER / "base/strongroom.toml").read_text()
    for pod in pods(rendered):
        (volume,) = (volume for volume in pod["volumes"] if volume["name"] == "config")
        assert volume["configMap"]["name"] == config["metadata"]["name"]


def base(name: str) -> dict[str, Any]:
    return documents((FOLDER / "base" / name).read_text())[0]


def test_a_pod_has_the_time_to_drain() -> None:
    (pod,) = pods([base("server.yaml")])
    text = (FOLDER / "base/strongroom.toml").read_text()
    drain = int(text.partition("drain_seconds = ")[2].split()[0])
    probe = pod["containers"][0]["readinessProbe"]
    assert probe["httpGet"]["path"] == "/readyz"
    assert probe["periodSeconds"] * probe["failureThreshold"] <= drain
    assert pod["terminationGracePeriodSeconds"] >= drain + 30


@pytest.mark.parametrize("name", ["server.yaml", "schema.yaml", "prune.yaml", "backup.yaml"])
def test_production_takes_the_configuration_and_the_secrets(name: str, tmp_path: Path) -> None:
    (pod,) = pods([base(name)])
    variables = {}
    for variable in pod["containers"][0]["env"]:
        path = Path(variable["value"].replace(FOLDER_OF_SECRETS, str(tmp_path)))
        secret = (
            "postgresql+psycopg://strongroom:hush@db/strongroom"
            if "url" in path.name
            else token_urlsafe(48)
        )
        path.write_text(secret)
        path.chmod(0o600)
        variables[variable["name"]] = str(path)
    create_key_file(tmp_path / "signing-keys.json", "RS256", 0)
    # The file has sample values, which production refuses.
    variables |= OWN_STORE | OWN_MAIL
    variables["STRONGROOM__TOKENS__KEYS_FILE"] = str(tmp_path / "signing-keys.json")
    config = str(FOLDER / "base/strongroom.toml")
    result = run_command("config", "check", "--offline", "--config", config, env=variables)
    assert (result.returncode, result.stdout) == (0, "the configuration is fine\n"), result.stderr


def test_the_page_creates_each_key_of_the_secret() -> None:
    page = (PRODUCTION.parents[1] / "docs/operate/kubernetes.md").read_text()
    (pod,) = pods([base("server.yaml")])
    for variable in pod["containers"][0]["env"]:
        assert f"--from-file={Path(variable['value']).name}" in page
    assert "--from-file=signing-keys.json" in page
