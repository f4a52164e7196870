"""``make release`` on a copy of the source tree: changelog, distributions, SBOM, commit and tag."""

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from packaging.version import Version
from release.sbom import sbom_error
from release.versions import (
    VERSION_FILES,
    choose_version,
    current_version,
    development_version,
    following,
    npm_version,
    released_versions,
    require_accepted,
)

from tests.support.source_tree import ROOT, copy_tree, run, succeed

pytestmark = pytest.mark.extended

TOOLS = Path(sys.executable).parent
DATE = "2026-12-01"
NEWEST = max(released_versions(ROOT), default=current_version(ROOT))
FOLDERS = ("core/testing", "plugins/*", "clients/*", "tests/simulators")


def files_of(dist: Path) -> list[Path]:
    """Return what a release consists of; uv adds a .gitignore."""
    return [path for path in dist.iterdir() if not path.name.startswith(".")]


def release(tree: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return run(tree, TOOLS / "python", "-m", "release", "--date", DATE, *arguments)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the tree with two changes, because none are left directly after a release."""
    tree = copy_tree(tmp_path_factory.mktemp("release") / "strongroom")
    (tree / "changelog.d/guesses.security.md").write_text("Guesses are limited.\n")
    (tree / "changelog.d/gates.added.md").write_text("Spaces have gates.\n")
    succeed(tree, "git", "add", "--all")
    succeed(tree, "git", "commit", "--quiet", "--message", "Add gates, and limit guesses")
    return tree


@pytest.fixture(scope="module")
def fragments(tree: Path) -> list[str]:
    paths = [*(tree / "changelog.d").glob("*.*.md")]
    return [" ".join(path.read_text().split()) for path in paths]


@pytest.fixture(scope="module")
def released(tree: Path, fragments: list[str]) -> Path:
    result = release(tree, "0.7.0")
    assert result.returncode == 0, result.stderr
    return tree


def test_a_changed_tree_is_refused(tree: Path) -> None:
    (tree / "forgotten.txt").write_text("not committed")
    result = release(tree, "0.7.0")
    (tree / "forgotten.txt").unlink()
    assert result.returncode == 1
    assert result.stderr == (
        "Error: the source tree has changes (?? forgotten.txt); commit or stash them\n"
    )


@pytest.mark.parametrize(
    ("version", "message"),
    [
        ("0.0.9", f"0.0.9 is not newer than {NEWEST}; downgrades are not possible"),
        ("next", "next is not a version such as 1.2.3"),
        ("0.7.0.dev1", "0.7.0.dev1 is not a version such as 1.2.3"),
    ],
)
def test_an_impossible_version_is_refused(tree: Path, version: str, message: str) -> None:
    result = release(tree, version)
    assert (result.returncode, result.stderr) == (1, f"Error: {message}\n")
    assert succeed(tree, "git", "status", "--porcelain") == ""


def test_a_version_that_distributions_do_not_accept_is_refused(tree: Path) -> None:
    result = release(tree, "1.0.0")
    assert result.returncode == 1
    assert re.fullmatch(r"Error: \S+ requires strongroom\S+; accept 1\.0\.0 there\n", result.stderr)


def test_each_distribution_has_the_version(released: Path) -> None:
    built = [path.name for path in files_of(released / "dist")]
    projects = 1 + len(
        [path for folder in FOLDERS for path in released.glob(f"{folder}/pyproject.toml")]
    )
    assert len([name for name in built if name.endswith("-0.7.0-py3-none-any.whl")]) == projects
    assert len([name for name in built if name.endswith("-0.7.0.tar.gz")]) == projects
    assert len(built) == 2 * projects + len(("SBOM", "SHA256SUMS"))


def test_the_changelog_has_each_fragment(released: Path, fragments: list[str]) -> None:
    changelog = " ".join((released / "CHANGELOG.md").read_text().split())
    assert f"## 0.7.0 ({DATE}) ### Security - " in changelog
    assert [text for text in fragments if f"- {text}" not in changelog] == []
    assert [*(released / "changelog.d").glob("*.*.md")] == []
    assert (released / "changelog.d/README.md").exists()


def test_the_release_is_committed_and_tagged(released: Path) -> None:
    assert succeed(released, "git", "log", "-1", "--format=%s", "v0.7.0") == "Release 0.7.0\n"
    tagged = succeed(released, "git", "show", "v0.7.0:core/src/strongroom/version.py")
    assert '__version__ = "0.7.0"\n' in tagged


def test_the_tree_after_a_release_develops_the_next_minor_version(released: Path) -> None:
    assert succeed(released, "git", "log", "-1", "--format=%s") == "Begin 0.8.0.dev0\n"
    assert succeed(released, "git", "status", "--porcelain") == ""
    assert Version("0.7.0") < current_version(released) < Version("0.8.0")
    package = json.loads((released / "clients/typescript/package.json").read_text())
    assert package["version"] == "0.8.0-dev.0"


def test_a_tree_without_a_release_of_its_version_has_a_development_version() -> None:
    version = current_version(ROOT)
    assert version.is_devrelease or version in released_versions(ROOT)


def test_the_distributions_accept_the_version_of_the_tree_and_of_the_next_one() -> None:
    version = current_version(ROOT)
    for accepted in (version, Version(version.base_version), development_version(version)):
        require_accepted(ROOT, accepted)


def test_the_checksums_are_those_of_all_files(released: Path) -> None:
    dist = released / "dist"
    lines = (dist / "SHA256SUMS").read_text().splitlines()
    stated = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    files = [path for path in files_of(dist) if path.name != "SHA256SUMS"]
    assert stated == {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_the_bill_of_materials_is_valid_and_complete(released: Path) -> None:
    text = (released / "dist/strongroom-0.7.0.cdx.json").read_text()
    assert sbom_error(text) is None
    bom = json.loads(text)
    assert (bom["specVersion"], bom["metadata"]["component"]["version"]) == ("1.6", "0.7.0")
    listed = {(part["name"], part["version"]) for part in bom["components"]}
    pins = re.findall(r"^(\S+)==(\S+)", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert set(pins) <= listed
    assert ("strongroom-storage-s3", "0.7.0") in listed
    (flask,) = (part for part in bom["components"] if part["name"] == "flask")
    assert flask["licenses"] == [{"expression": "BSD-3-Clause"}] or flask["licenses"][0]["license"]
    assert flask["externalReferences"][0]["hashes"]


def test_a_bill_of_materials_that_violates_the_schema_is_found() -> None:
    assert sbom_error('{"bomFormat": "CycloneDX", "specVersion": "1.6", "components": [{}]}')


def test_without_changes_there_is_nothing_to_release(released: Path) -> None:
    result = release(released)
    assert (result.returncode, result.stderr) == (
        1,
        "Error: changelog.d has no fragments, so there is nothing to release\n",
    )


def test_a_released_version_is_refused_and_the_next_one_follows(released: Path) -> None:
    (released / "changelog.d/links.fixed.md").write_text("Links work again.\n")
    succeed(released, "git", "add", "--all")
    succeed(released, "git", "commit", "--quiet", "--message", "Correct links")
    refused = release(released, "0.7.0")
    assert "0.7.0 is not newer than 0.7.0" in refused.stderr
    assert choose_version(released, None) == Version("0.7.1")


@pytest.mark.parametrize(
    ("kinds", "expected"), [(["fixed", "security"], "1.4.3"), (["fixed", "added"], "1.5.0")]
)
def test_the_next_version_depends_on_the_kinds_of_changes(kinds: list[str], expected: str) -> None:
    assert following(Version("1.4.2"), kinds) == Version(expected)


def test_all_files_with_the_version_have_the_same() -> None:
    found = [pattern.findall((ROOT / path).read_text()) for path, pattern in VERSION_FILES.items()]
    version = current_version(ROOT)
    assert {text for texts in found for text in texts} == {str(version), npm_version(version)}
    assert all(found)


def test_no_distribution_has_a_version_of_its_own() -> None:
    projects = [path for folder in FOLDERS for path in ROOT.glob(f"{folder}/pyproject.toml")]
    for path in (ROOT / "pyproject.toml", *projects):
        text = path.read_text()
        assert 'dynamic = ["version"]' in text, path
        assert "core/src/strongroom/version.py" in text, path
