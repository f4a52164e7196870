"""Strongroom compared with its last release, or with another commit, which is installed for that."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench import trees
from bench.harness import Plan, Row
from bench.servers import ROOT

BENCHES: Final = ("uploads", "details", "pages", "downloads")
"""Requests that are compared with the last release in each complete run."""


def last_release(root: Path = ROOT) -> str | None:
    """Return the tag of the last release before the current commit, ``None`` without one."""
    command = ("describe", "--tags", "--abbrev=0", "--match", "v*")
    described = subprocess.run(  # noqa: S603  git with constant arguments
        ["git", "-C", str(root), *command],  # noqa: S607  from the PATH of the developer
        capture_output=True,
        text=True,
        check=False,
    )
    return described.stdout.strip() or None


@contextmanager
def installed(version: str) -> Iterator[Path]:
    """Give a checkout that has a ``.venv``: an existing folder, or a commit that is installed meanwhile.

    Args:
        version: the folder, or a commit or tag.

    Raises:
        subprocess.CalledProcessError: there is no such commit, or it cannot be installed.
    """
    if Path(version).is_dir():
        yield Path(version).resolve()
        return
    with TemporaryDirectory() as folder:
        checkout = Path(folder, version.replace("/", "-"))
        _git("worktree", "add", "--detach", str(checkout), version)
        try:
            subprocess.run(["make", "install"], cwd=checkout, stdout=subprocess.DEVNULL, check=True)  # noqa: S607
            yield checkout
        finally:
            _git("worktree", "remove", "--force", str(checkout))


def measure(plan: Plan) -> list[Row]:
    """Measure requests that both versions serve alternately.

    Raises:
        RuntimeError: there is no release yet.
    """
    release = last_release()
    if release is None:
        raise RuntimeError("no tag v* before this commit; use --against with a commit")
    with installed(release) as checkout:
        return trees.measure(plan, checkout, BENCHES)


def _git(*arguments: str) -> None:
    command = ["git", "-C", str(ROOT), *arguments]
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: S603
