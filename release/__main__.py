"""``python -m release [VERSION]``: build, check, commit and tag a release; ``make release`` runs it.

Nothing is published. The tag, once pushed, starts the workflow that builds the same bytes again and
publishes them.
"""

import hashlib
import subprocess
import sys
from pathlib import Path
from typing import Final

import click
from packaging.version import Version

from release.versions import (
    ReleaseRefused,
    choose_version,
    current_version,
    development_version,
    fragment_kinds,
    require_accepted,
    set_version,
)

_TOOLS: Final = Path(sys.executable).parent


@click.command()
@click.argument("version", required=False)
@click.option("--date", help="Date of the release, as YYYY-MM-DD; today by default.")
@click.option("--build-only", is_flag=True, help="Build and check the current version; commit nothing.")
def main(version: str | None, date: str | None, build_only: bool) -> None:
    """Make a release of the source tree in the current folder."""
    root = Path.cwd()
    try:
        if build_only:
            build(root, current_version(root))
        else:
            release(root, version or None, date)
    except ReleaseRefused as refused:
        raise click.ClickException(str(refused)) from None


def release(root: Path, wanted: str | None, date: str | None) -> None:
    """Set the version, write the changelog, build and check the distributions, then commit and tag.

    A second commit begins the development of the next version.

    Raises:
        ReleaseRefused: The tree has changes, there is nothing to release, or a check failed. The tree is
            then as it was before.
    """
    _require_clean(root)
    if not fragment_kinds(root):
        raise ReleaseRefused("changelog.d has no fragments, so there is nothing to release")
    version = choose_version(root, wanted)
    require_accepted(root, version)
    try:
        set_version(root, version)
        _write_changelog(root, version, date)
        build(root, version)
    except BaseException:
        _run(root, "git", "reset", "--quiet", "--hard")
        raise
    _run(root, "git", "commit", "--quiet", "--all", "--message", f"Release {version}")
    _run(root, "git", "tag", "--annotate", "--message", f"Strongroom {version}", f"v{version}")
    _begin_development(root, development_version(version))
    click.echo(f"Committed and tagged v{version}. To publish it: git push --follow-tags")


def _begin_development(root: Path, version: Version) -> None:
    """Commit a development version, so that no later build has the version of the release."""
    set_version(root, version)
    _run(root, "git", "commit", "--quiet", "--all", "--message", f"Begin {version}")


def build(root: Path, version: Version) -> None:
    """Build the distributions into dist, check them, and add the bill of materials and the checksums."""
    from release.sbom import sbom_error, write_sbom  # slow to import, and refusals do without

    click.echo(f"Building Strongroom {version}")
    _run(root, "make", "--silent", "--old-file=install", "dist", f"BIN={_TOOLS}")
    dist = root / "dist"
    wheels = sorted(dist.glob("*.whl"))
    archives = sorted(dist.glob("*.tar.gz"))
    _run(root, _TOOLS / "twine", "--no-color", "check", "--strict", *wheels, *archives)
    sbom = dist / f"strongroom-{version}.cdx.json"
    write_sbom(sbom, version, wheels, root / "requirements.lock")
    fault = sbom_error(sbom.read_text())
    if fault is not None:
        raise ReleaseRefused(f"{sbom.name} violates the CycloneDX schema: {fault}")
    files = [*wheels, *archives, sbom]
    (dist / "SHA256SUMS").write_text("".join(f"{_sha256(path)}  {path.name}\n" for path in files))
    click.echo(f"Built {len(wheels)} wheels and {len(archives)} source archives, with {sbom.name}")


def _require_clean(root: Path) -> None:
    changes = _run(root, "git", "status", "--porcelain")
    if changes:
        first = changes.splitlines()[0].strip()
        raise ReleaseRefused(f"the source tree has changes ({first}); commit or stash them")


def _write_changelog(root: Path, version: Version, date: str | None) -> None:
    """Move the fragments into a section of the changelog."""
    options = [] if date is None else ["--date", date]
    _run(root, _TOOLS / "towncrier", "build", "--yes", "--version", version, *options)


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _run(root: Path, *command: object) -> str:
    words = [str(word) for word in command]
    result = subprocess.run(  # noqa: S603  commands of our own
        words, cwd=root, capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        said = (result.stderr or result.stdout).strip()
        raise ReleaseRefused(f"{Path(words[0]).name} {words[1]} failed: {said}")
    return result.stdout


if __name__ == "__main__":
    main()
