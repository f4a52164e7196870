"""Which version a release gets, and the files that contain it."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, Final

from packaging.requirements import Requirement
from packaging.version import Version

# The first file is the source: the pyproject.toml files of the server and of all plugins read it. The
# pattern of a file of npm finds a version that is written as `npm_version` returns it.
VERSION_FILES: Final = {
    "core/src/strongroom/version.py": re.compile(r'(?<=^__version__ = ")[^"]+(?="$)', re.MULTILINE),
    "clients/typescript/package.json": re.compile(r'(?<=^  "version": ")[^"]+', re.MULTILINE),
    "clients/typescript/package-lock.json": re.compile(
        # Of the package itself, not of its dependencies.
        r'(?<="name": "@strongroom/client",\n  "version": ")[^"]+'
        r'|(?<="name": "@strongroom/client",\n      "version": ")[^"]+'
    ),
    "examples/production/Dockerfile": re.compile(r'(?<=org\.opencontainers\.image\.version=")[^"]+'),
    "examples/production/kubernetes/base/kustomization.yaml": re.compile(r"(?<=newTag: v)\S+"),
    "examples/helm/strongroom/Chart.yaml": re.compile(r'(?<=appVersion: ")[^"]+'),
}
_PROJECTS: Final = (
    "pyproject.toml",
    "core/testing/pyproject.toml",
    "plugins/*/pyproject.toml",
    "clients/*/pyproject.toml",
    "examples/*/pyproject.toml",
    "tests/simulators/pyproject.toml",
)
_HEADING: Final = re.compile(r"^## (\S+) \(\d{4}-\d\d-\d\d\)$", re.MULTILINE)
_RELEASE: Final = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
_FEATURES: Final = frozenset({"added", "changed", "removed"})


class ReleaseRefused(Exception):
    """A release is not possible; the message names the remedy."""


def current_version(root: Path) -> Version:
    """Return the version in the source tree."""
    path, pattern = next(iter(VERSION_FILES.items()))
    found = pattern.search((root / path).read_text())
    if found is None:
        raise ReleaseRefused(f"{path} contains no version")
    return Version(found.group())


def set_version(root: Path, version: Version) -> None:
    """Write a version into each file that contains it."""
    for path, pattern in VERSION_FILES.items():
        own = npm_version(version) if path.startswith("clients/typescript/") else str(version)
        text, count = pattern.subn(own, (root / path).read_text())
        if count == 0:
            raise ReleaseRefused(f"{path} contains no version")
        (root / path).write_text(text)


def npm_version(version: Version) -> str:
    """Return a version as semantic versioning has it: ``0.2.0-dev.0`` for ``0.2.0.dev0``."""
    return str(version).replace(".dev", "-dev.")


def released_versions(root: Path) -> list[Version]:
    """Return the versions that have a section in the changelog."""
    return [Version(found) for found in _HEADING.findall((root / "CHANGELOG.md").read_text())]


def fragment_kinds(root: Path) -> list[str]:
    """Return the kind of each changelog fragment."""
    return [path.name.split(".")[-2] for path in (root / "changelog.d").glob("*.*.md")]


def choose_version(root: Path, wanted: str | None) -> Version:
    """Return the version of the next release: the wanted one, or the next after the last release.

    Raises:
        ReleaseRefused: The wanted version is none, or not newer than what was released.
    """
    newest = max(released_versions(root), default=current_version(root))
    if wanted is None:
        return _next_version(root)
    if not _RELEASE.fullmatch(wanted):
        raise ReleaseRefused(f"{wanted} is not a version such as 1.2.3")
    if Version(wanted) <= newest:
        raise ReleaseRefused(f"{wanted} is not newer than {newest}; downgrades are not possible")
    return Version(wanted)


def _next_version(root: Path) -> Version:
    released = released_versions(root)
    if not released:
        return Version(current_version(root).base_version)
    return following(max(released), fragment_kinds(root))


def require_accepted(root: Path, version: Version) -> None:
    """Require that the distributions of the tree accept each other's new version.

    Raises:
        ReleaseRefused: A distribution requires another of the tree, but not in this version.
    """
    projects = [_project(path) for pattern in _PROJECTS for path in sorted(root.glob(pattern))]
    names = {project["name"] for project in projects}
    for project in projects:
        for requirement in _requirements(project):
            if requirement.name in names and version not in requirement.specifier:
                raise ReleaseRefused(f"{project['name']} requires {requirement}; accept {version} there")


def _project(path: Path) -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads(path.read_text())["project"]
    return project


def _requirements(project: Mapping[str, Any]) -> Iterator[Requirement]:
    extras = project.get("optional-dependencies", {}).values()
    for text in chain(project.get("dependencies", ()), *extras):
        yield Requirement(text)


def following(current: Version, kinds: Sequence[str]) -> Version:
    """Return the next minor version if anything but faults changed, else the next patch version."""
    if _FEATURES.isdisjoint(kinds):
        return Version(f"{current.major}.{current.minor}.{current.micro + 1}")
    return Version(f"{current.major}.{current.minor + 1}.0")


def development_version(released: Version) -> Version:
    """Return the version of the tree after a release: the next minor version, in development."""
    return Version(f"{released.major}.{released.minor + 1}.0.dev0")
