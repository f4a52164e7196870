"""The files of examples/production, checked with the programs of this machine."""

import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from ruamel.yaml import YAML
from tests.support.commands import run_command
from tests.support.nginx import PRODUCTION, nginx_before
from tests.support.production import OWN_MAIL, OWN_SMS, OWN_STORE
from tests.support.schemas import schema_faults

from strongroom.foundation.config.server_settings import PluginsSettings
from strongroom.identity.sessions.signing_keys import create_key_file
from strongroom.testing.server import free_port

ROOT = PRODUCTION.parents[1]
MEMBERS = [
    ROOT / "core/testing/pyproject.toml",
    *ROOT.glob("plugins/*/pyproject.toml"),
    ROOT / "clients/python/pyproject.toml",
    ROOT / "tests/simulators/pyproject.toml",
]
SECRETS = {
    "STRONGROOM__SERVER__SECRET_KEY_FILE": "a made-up secret of more than 32 characters",
    "STRONGROOM__DATABASE__URL_FILE": "postgresql+psycopg://strongroom:hush@127.0.0.1/strongroom",
    "STRONGROOM__STORAGES__MAIN__SECRET_ACCESS_KEY_FILE": "hush",
    "STRONGROOM__MESSAGES__SMTP__PASSWORD_FILE": "hush",
    "STRONGROOM__MESSAGES__ALIYUN_SMS__ACCESS_KEY_SECRET_FILE": "hush",
}


@pytest.fixture
def secrets(tmp_path: Path) -> dict[str, str]:
    """The variables that name files of secrets and of signing keys."""
    for name, value in SECRETS.items():
        (tmp_path / name).write_text(value)
        (tmp_path / name).chmod(0o600)
    create_key_file(tmp_path / "keys.json", "RS256", 0)
    return {
        "STRONGROOM__TOKENS__KEYS_FILE": str(tmp_path / "keys.json"),
        **OWN_STORE,
        **OWN_MAIL,
        **OWN_SMS,
        **{name: str(tmp_path / name) for name in SECRETS},
    }


def check(environment: dict[str, str]) -> "subprocess.CompletedProcess[str]":
    config = str(PRODUCTION / "strongroom.toml")
    return run_command("config", "check", "--offline", "--config", config, env=environment)


def test_production_takes_the_configuration(secrets: dict[str, str]) -> None:
    result = check(secrets)
    assert (result.returncode, result.stdout) == (0, "the configuration is fine\n"), result.stderr


def test_without_its_secret_key_it_is_refused(secrets: dict[str, str]) -> None:
    del secrets["STRONGROOM__SERVER__SECRET_KEY_FILE"]
    result = check(secrets)
    assert result.returncode == 2
    assert "server.secret_key: must be set in production" in result.stderr


def test_units_containers_and_configuration_name_the_same_secrets() -> None:
    for name in ("strongroom.toml", "strongroom@.service", "strongroom-backup.service", "compose.yaml"):
        text = (PRODUCTION / name).read_text()
        assert [variable for variable in SECRETS if variable not in text] == [], name


def test_nginx_takes_its_configuration(tmp_path: Path) -> None:
    nginx = nginx_before(tmp_path, (free_port(), free_port()))
    result = nginx.said_by_check()
    assert result.returncode == 0, result.stderr
    assert "warn" not in result.stderr


@pytest.mark.parametrize(
    "unit",
    [
        "strongroom@.service",
        "strongroom-prune.service",
        "strongroom-prune.timer",
        "strongroom-backup.service",
        "strongroom-backup.timer",
    ],
)
def test_systemd_takes_the_units(unit: str, tmp_path: Path) -> None:
    analyze = shutil.which("systemd-analyze")
    if analyze is None:
        pytest.skip("systemd-analyze is not on this machine")
    for path in PRODUCTION.glob("strongroom*.*er*"):
        if path.suffix in {".service", ".timer"}:
            text = path.read_text().replace("/opt/strongroom/bin/strongroom", "/bin/true")
            (tmp_path / path.name).write_text(text)
    path = tmp_path / unit.replace("@", "@8001")
    if path.name != unit:
        (tmp_path / unit).rename(path)
    result = subprocess.run([analyze, "verify", path], capture_output=True, text=True, check=False)
    said = [line for line in result.stderr.splitlines() if path.name in line]
    assert (result.returncode, said) == (0, [])


def test_compose_follows_its_schema() -> None:
    assert schema_faults("compose-spec", PRODUCTION / "compose.yaml") == []


def test_the_services_of_compose_stand_on_what_there_is() -> None:
    compose: dict[str, Any] = YAML(typ="safe").load(PRODUCTION / "compose.yaml")
    for name, service in compose["services"].items():
        for kind in ("secrets", "networks"):
            assert set(service.get(kind, ())) <= set(compose[kind]), name
        assert set(service.get("depends_on", ())) <= set(compose["services"]), name
        for volume in service.get("volumes", ()):
            source = volume.partition(":")[0]
            made = source in {"./backups", "./keys", "./tls"} or source in compose["volumes"]
            assert made or (PRODUCTION / source).exists(), volume
    build = compose["services"]["server-1"]["build"]
    assert (PRODUCTION / build["context"]).resolve() == ROOT
    assert (ROOT / build["dockerfile"]).exists()


def test_the_image_is_built_from_files_of_the_tree() -> None:
    text = re.sub(r"\\\n\s*", "", (PRODUCTION / "Dockerfile").read_text())
    lines = [line.partition(" ") for line in text.splitlines() if line and not line.startswith("#")]
    known = (
        "ARG FROM WORKDIR COPY RUN LABEL ENV USER VOLUME EXPOSE STOPSIGNAL HEALTHCHECK ENTRYPOINT CMD"
    )
    assert {word for word, _, _ in lines} == set(known.split())
    ignored = (PRODUCTION / "Dockerfile.dockerignore").read_text().splitlines()
    kept = [line.removeprefix("!") for line in ignored if line.startswith("!")]
    assert [name for name in kept if not (ROOT / name).exists()] == []


LOCKS = ["requirements-serve.lock", "requirements.lock", "requirements-dev.lock"]


def pins(lock: str) -> list[str]:
    """Return the entries of a lock file, each with its hashes."""
    return re.findall(r"^\S+==(?:.*\\\n)*.*$", (ROOT / lock).read_text(), re.MULTILINE)


def without_marker(pin: str) -> str:
    """Return a pin without its condition: tools may need a package where the server does not."""
    return re.sub(r" ; [^\\]*", " ", pin)


def test_the_server_has_the_versions_that_the_tests_ran_with() -> None:
    server, tests = (
        {without_marker(pin) for pin in pins(lock)}
        for lock in ("requirements.lock", "requirements-dev.lock")
    )
    assert server
    assert [pin for pin in server if pin not in tests or "--hash=sha256:" not in pin] == []


def test_a_first_start_installs_the_default_plugins_and_what_they_need() -> None:
    makefile = (ROOT / "Makefile").read_text()
    (names,) = re.findall(r"^DEFAULTS := (.*)$", makefile, re.MULTILINE)
    assert names.split() == [*PluginsSettings().enabled]
    server = {without_marker(pin) for pin in pins("requirements.lock")}
    first = {without_marker(pin) for pin in pins("requirements-serve.lock")}
    assert first < server
    folders = [ROOT, *(ROOT / "plugins" / name for name in names.split())]
    needed = [tomllib.loads((folder / "pyproject.toml").read_text())["project"] for folder in folders]
    own = {project["name"] for project in needed}
    required = {Requirement(text).name for project in needed for text in project["dependencies"]} - own
    locked = {canonicalize_name(pin.partition("==")[0]) for pin in first}
    assert {canonicalize_name(name) for name in required} <= locked
    assert [name for name in locked if name.startswith(("alibabacloud", "boto", "aiohttp"))] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_no_lock_names_a_folder(lock: str) -> None:
    assert "file:" not in (ROOT / lock).read_text()


def declared() -> set[str]:
    """Return the names of the requirements of all distributions and of the developer tools."""
    projects = [tomllib.loads(path.read_text()) for path in (ROOT / "pyproject.toml", *MEMBERS)]
    own = {project["project"]["name"] for project in projects}
    lists = [project["project"]["dependencies"] for project in projects]
    lists += [*projects[0]["project"]["optional-dependencies"].values()]
    lists += [projects[0]["dependency-groups"]["dev"]]
    found = [Requirement(text) for texts in lists for text in texts]
    return {item.name for item in found} - own


def test_each_declared_requirement_is_locked() -> None:
    locked = {canonicalize_name(pin.partition("==")[0]) for pin in pins("requirements-dev.lock")}
    assert {canonicalize_name(name) for name in declared()} <= locked


@pytest.mark.parametrize(
    "lock", ["requirements-serve.lock", "requirements.lock", "requirements-dev.lock"]
)
@pytest.mark.parametrize("python", ["3.11.9", "3.12.9", "3.13.9"])
def test_each_python_has_one_pin_of_a_package(python: str, lock: str) -> None:
    environment = {"python_full_version": python, "python_version": python[:4]}
    required = [Requirement(pin.partition("\\")[0]) for pin in pins(lock)]
    names = [pin.name for pin in required if pin.marker is None or pin.marker.evaluate(environment)]
    assert len(names) == len(set(names))


def test_compose_watches_its_servers_and_does_what_must_be_done_every_day() -> None:
    compose: dict[str, Any] = YAML(typ="safe").load(PRODUCTION / "compose.yaml")
    services = compose["services"]
    image = (PRODUCTION / "Dockerfile").read_text()
    (port,) = re.findall(r"STRONGROOM__MANAGEMENT__PORT=(\d+)", image)
    assert f"http://127.0.0.1:{port}/livez" in image.partition("HEALTHCHECK")[2]
    for name in ("server-1", "server-2"):
        assert "healthcheck" not in services[name]  # that of the image
        assert services[name]["read_only"] is True
        assert services[name]["cap_drop"] == ["ALL"]
        assert f"{name}:{port}" in compose["configs"]["prometheus"]["content"]
        assert f"server {name}:8000 resolve" in compose["configs"]["upstream"]["content"]
        assert "./keys:/etc/strongroom/keys" in services[name]["volumes"]
    daily = " ".join(str(service.get("command", "")) for service in services.values())
    for command in ("storage gc", "prune", "backup create"):
        assert f"strongroom {command}" in daily


LAYOUTS = pytest.mark.parametrize("layout", ["three-zones", "ten-machines"])


@LAYOUTS
def test_haproxy_takes_the_configuration_of_a_layout(layout: str) -> None:
    haproxy = shutil.which("haproxy") or shutil.which("haproxy", path="/usr/sbin")
    if haproxy is None:
        pytest.skip("NOT TESTED: haproxy is not installed here")
    config = ROOT / "examples" / layout / "haproxy.cfg"
    result = subprocess.run([haproxy, "-c", "-f", config], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


@LAYOUTS
def test_strongroom_takes_the_configuration_of_a_layout_from_its_unit(
    layout: str, secrets: dict[str, str], tmp_path: Path
) -> None:
    unit = (PRODUCTION / "strongroom@.service").read_text()
    variables = set(re.findall("(?m)^Environment=(STRONGROOM__[A-Z0-9_]+_FILE)=", unit))
    assert variables == set(SECRETS)
    folder = ROOT / "examples" / layout
    url = Path(secrets["STRONGROOM__DATABASE__URL_FILE"])
    url.write_text((folder / "database_url").read_text())
    config = Path(shutil.copy(folder / "strongroom.toml", tmp_path))
    config.chmod(0o600)
    result = run_command("config", "check", "--offline", "--config", str(config), env=secrets)
    assert result.returncode == 0, result.stderr


def test_layouts_let_clients_repeat_a_refresh_after_each_measured_outage() -> None:
    page = (ROOT / "docs/operate/availability.md").read_text()
    measured = page.partition("| fault | two machines |")[2].partition("\n\n")[0]
    outages = [float(seconds) for seconds in re.findall(r"([\d.]+) s\b", measured)]
    assert len(outages) > 10
    (fragment,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    examples = (
        "three-zones/strongroom.toml",
        "ten-machines/strongroom.toml",
        "production/kubernetes/base/strongroom.toml",
    )
    for config in (fragment, *((ROOT / "examples" / name).read_text() for name in examples)):
        assert tomllib.loads(config)["tokens"]["refresh_reuse_seconds"] >= 2 * max(outages)
