"""Distributions: the same bytes from each build, installed without the source tree and in the image."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from strongroom.testing.server import free_port
from strongroom.version import __version__
from tests.support.environment import Environment
from tests.support.pythons import SUPPORTED, python_of
from tests.support.server import STOP_SECONDS, Server, wait_until_answering

ROOT = Path(__file__).parents[2]
BIN = ROOT / ".venv/bin"
UV = BIN / "uv"
PLUGINS = sorted(folder.name for folder in (ROOT / "plugins").iterdir() if folder.is_dir())
SERVER, TESTING, CLIENT = "strongroom", "strongroom_testing", "strongroom_client"
FIRST_STEPS = ROOT / "examples/first-steps/first-steps.sh"
DOCKERFILE = ROOT / "examples/production/Dockerfile"
KEEPS_BYTECODE = {"PYTHONDONTWRITEBYTECODE": ""}
"""The variables of commands of a new environment, so that only the first one compiles all packages."""
OF_IMAGE = ("LICENSE", "README.md", "pyproject.toml", "requirements.lock", "requirements-dev.lock")

pytestmark = [
    pytest.mark.skipif(not UV.exists(), reason="uv is not in .venv: make install"),
    pytest.mark.extended,
]


def run(*command: object, cwd: Path, **variables: str) -> str:
    """Return the output of a command that has to succeed."""
    result = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def has_entry_point(name: str) -> bool:
    """Return whether a folder of plugins has a plugin, and not a library for plugins."""
    return "strongroom.plugins" in (ROOT / "plugins" / name / "pyproject.toml").read_text()


def copy_tree(target: Path) -> Path:
    """Copy what the image and the distributions are built from."""
    for name in ("clients", "core", "plugins"):
        ignored = shutil.ignore_patterns("__pycache__", "node_modules", "tests")
        shutil.copytree(ROOT / name, target / name, ignore=ignored)
    for name in (*OF_IMAGE, "Makefile"):
        shutil.copy(ROOT / name, target / name)
    return target


def build(tree: Path, target: Path) -> Path:
    """Build all distributions as ``make dist`` does."""
    run("make", "--old-file=install", "dist", f"DIST={target}", f"BIN={BIN}", cwd=tree)
    return target


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="module")
def dist(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tree, tmp_path_factory.mktemp("dist"))


def digests(folder: Path) -> dict[str, str]:
    files = [*folder.glob("*.whl"), *folder.glob("*.tar.gz")]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_each_distribution_has_a_wheel_and_a_source_archive(dist: Path) -> None:
    assert len(digests(dist)) == 2 * (len((SERVER, TESTING, CLIENT)) + len(PLUGINS))


def modules_of(dist: Path, name: str) -> set[str]:
    """Return the Python files in the wheel of a distribution."""
    (wheel,) = dist.glob(f"{name}-*.whl")
    with ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if name.endswith(".py")}


def test_the_contracts_are_a_distribution_of_their_own(dist: Path) -> None:
    source = ROOT / "core/src"
    contracts = {str(path.relative_to(source)) for path in source.glob("strongroom/testing/*.py")}
    everything = {str(path.relative_to(source)) for path in source.rglob("*.py")}
    assert modules_of(dist, TESTING) == contracts
    assert modules_of(dist, SERVER) == everything - contracts


def test_package_indexes_accept_the_distributions(dist: Path) -> None:
    files = [dist / name for name in digests(dist)]
    said = run(BIN / "twine", "--no-color", "check", "--strict", *files, cwd=dist)
    assert said.count("PASSED") == len(files)


def test_another_tree_yields_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    tree = copy_tree(tmp_path / "other")
    for path in tree.rglob("*.py"):
        path.chmod(0o600)
        os.utime(path, (1, 1))
    assert digests(build(tree, tmp_path / "dist")) == digests(dist)


@contextmanager
def served(program: Path, folder: Path) -> Iterator[str]:
    """Serve in an empty folder without a configuration until the block ends; yield the URL."""
    port = free_port()
    url, log = f"http://127.0.0.1:{port}", folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, "serve"],
            cwd=folder,
            env={**os.environ, **KEEPS_BYTECODE, "STRONGROOM__SERVER__PORT": str(port)},
            stdout=output,
            stderr=output,
        )
    try:
        wait_until_answering(Server(url, folder, process), log)
        yield url
    finally:
        process.terminate()
        process.wait(timeout=STOP_SECONDS)


@pytest.mark.parametrize("version", [SUPPORTED[0], SUPPORTED[-1]])
def test_the_documented_commands_install_all_distributions(
    dist: Path, tmp_path: Path, version: str
) -> None:
    page = (ROOT / "docs/start/deployer.md").read_text()
    commands = re.findall(r"^/opt/strongroom/bin/pip install (.*) (\S+)$", page, re.MULTILINE)
    assert len(commands) == len(("lock", "distributions"))
    environment = tmp_path / "environment"
    run(UV, "venv", "--quiet", "--python", python_of(version), environment, cwd=tmp_path)
    (tmp_path / "dist").symlink_to(dist)
    shutil.copy(ROOT / "requirements.lock", tmp_path)
    for options, what in commands:
        # uv in place of pip, for its speed.
        words = [*options.split(), {'"strongroom[console,shares]"': "strongroom[all]"}.get(what, what)]
        run(UV, "pip", "install", "--quiet", "--python", environment, *words, cwd=tmp_path)
    listed = run(environment / "bin/strongroom", "plugins", "list", cwd=tmp_path)
    assert [name for name in PLUGINS if name not in listed and has_entry_point(name)] == []


@pytest.mark.parametrize("version", SUPPORTED)
def test_the_first_steps_succeed_with_the_wheel_of_the_core(
    dist: Path, tmp_path: Path, version: str
) -> None:
    (wheel,) = dist.glob("strongroom-*.whl")
    pins = ROOT / "requirements.lock"
    # Without a compiler: all packages are wheels.
    uvx = f"{UV} tool run --no-build --find-links {dist} --constraints {pins} --from {wheel}"
    program = tmp_path / "strongroom"
    program.write_text(f'#!/bin/sh\nexec {uvx} --python {python_of(version)} strongroom "$@"\n')
    program.chmod(0o700)
    with served(program, tmp_path) as url:
        said = run(FIRST_STEPS, cwd=tmp_path, BASE=url, STRONGROOM=str(program), **KEEPS_BYTECODE)
    assert said.endswith("All is well.\n")
    assert (tmp_path / "strongroom-data/strongroom.sqlite3").exists()


def test_the_client_installs_without_the_server(dist: Path, tmp_path: Path) -> None:
    (wheel,) = dist.glob(f"{CLIENT}-*.whl")
    environment = tmp_path / "environment"
    run(UV, "venv", "--quiet", environment, cwd=tmp_path)
    install = (UV, "pip", "install", "--quiet", "--no-build", "--python", environment)
    run(*install, "--constraints", ROOT / "requirements-dev.lock", wheel, cwd=tmp_path)
    said = run(environment / "bin/strongroom-client", "--version", cwd=tmp_path)
    assert __version__ in said
    assert not (environment / "bin/strongroom").exists()


def test_make_installs_source_trees_in_place(tmp_path: Path) -> None:
    environment, project = Environment.create(tmp_path / "environment"), ROOT / "plugins/storage_local"
    run(environment.python, "-m", "release.editables", UV, project.relative_to(ROOT), cwd=ROOT)
    script = """
from importlib.metadata import distribution
import strongroom_storage_local as package
print(package.__file__)
print(distribution("strongroom-storage-local").read_text("direct_url.json"))
"""
    location, source = run(environment.python, "-c", script, cwd=tmp_path).splitlines()
    assert location == str(project / "src/strongroom_storage_local/__init__.py")
    assert json.loads(source) == {"url": project.as_uri(), "dir_info": {"editable": True}}


def metadata_of(wheel: Path) -> Message:
    with ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(archive.read(name))


def test_each_plugin_requires_a_core_that_has_its_plugin_api(dist: Path) -> None:
    for wheel in sorted(set(dist.glob("strongroom_*.whl")) - set(dist.glob(f"{CLIENT}-*.whl"))):
        required = map(Requirement, metadata_of(wheel).get_all("Requires-Dist", []))
        (core,) = (item.specifier for item in required if item.name == "strongroom")
        assert __version__ in core, wheel.name
        # 1.1 is the plugin API of the first release; only the next major version may remove hooks.
        assert "0.0.9" not in core, wheel.name
        assert "1.0" not in core, wheel.name


def test_the_steps_of_the_image_install_the_server(tree: Path, tmp_path: Path) -> None:
    steps = re.findall(r"^RUN (python.*?[^\\])$", DOCKERFILE.read_text(), re.MULTILINE | re.DOTALL)
    assert len(steps) == len(("uv", "packages"))
    for step in steps:
        # Below a folder; the cache saves downloads, and compiled modules only a slow first start.
        here = step.replace("/opt/", f"{tmp_path}/").replace(
            "export UV_NO_CACHE=1 UV_COMPILE_BYTECODE=1", ":"
        )
        run("bash", "-euc", here, cwd=tree)
    program = tmp_path / "strongroom/bin/strongroom"
    installed = run(UV, "pip", "freeze", "--python", tmp_path / "strongroom", cwd=tmp_path)
    assert "pytest==" not in installed
    assert "psycopg-binary" in installed
    assert run(program, "--version", cwd=tmp_path)
