"""Distributions: the same bytes from each build, installed without the source tree and in the image."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from strongroom.testing.server import free_port
from tests.support.config import write_toml
from tests.support.server import serving

ROOT = Path(__file__).parents[2]
BIN = ROOT / ".venv/bin"
UV = BIN / "uv"
PLUGINS = sorted(folder.name for folder in (ROOT / "plugins").iterdir() if folder.is_dir())
DOCKERFILE = ROOT / "examples/production/Dockerfile"
OF_IMAGE = ("LICENSE", "README.md", "pyproject.toml", "requirements.lock", "requirements-dev.lock")

pytestmark = pytest.mark.skipif(not UV.exists(), reason="uv is not in .venv: make install")


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


def copy_tree(target: Path) -> Path:
    """Copy what the image and the distributions are built from."""
    for name in ("core", "plugins"):
        ignored = shutil.ignore_patterns("__pycache__", "tests")
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
    assert len(digests(dist)) == 2 * (1 + len(PLUGINS))


def test_another_tree_yields_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    tree = copy_tree(tmp_path / "other")
    for path in tree.rglob("*.py"):
        path.chmod(0o600)
        os.utime(path, (1, 1))
    assert digests(build(tree, tmp_path / "dist")) == digests(dist)


def test_the_installed_wheels_serve_without_a_configuration(dist: Path, tmp_path: Path) -> None:
    environment = tmp_path / "environment"
    run(UV, "venv", "--quiet", environment, cwd=tmp_path)
    install = (UV, "pip", "install", "--quiet", "--python", environment)
    pins = ROOT / "requirements.lock"
    run(*install, "--find-links", dist, "--constraints", pins, "strongroom[all]", cwd=tmp_path)
    program = environment / "bin/strongroom"
    listed = run(program, "plugins", "list", cwd=tmp_path)
    assert [name for name in PLUGINS if name not in listed] == []
    config = write_toml(tmp_path / "strongroom.toml", {"server": {"port": free_port()}})
    with serving(config, program=program):
        pass


def test_the_steps_of_the_image_install_the_server(tree: Path, tmp_path: Path) -> None:
    (steps,) = re.findall(r"^RUN (python.*?[^\\])$", DOCKERFILE.read_text(), re.MULTILINE | re.DOTALL)
    # The same steps below a folder; the cache of packages only saves downloads.
    steps = steps.replace("/opt/", f"{tmp_path}/").replace("UV_NO_CACHE=1", "UV_NO_PROGRESS=1")
    run("python3", "-m", "venv", tmp_path / "python", cwd=tmp_path)
    path = f"{tmp_path}/python/bin:{os.environ['PATH']}"
    run("bash", "-euc", steps, cwd=tree, PATH=path)
    program = tmp_path / "strongroom/bin/strongroom"
    installed = run(UV, "pip", "freeze", "--python", tmp_path / "strongroom", cwd=tmp_path)
    assert "pytest==" not in installed
    assert "psycopg-binary" in installed
    assert run(program, "--version", cwd=tmp_path)
