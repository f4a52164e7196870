"""A copy of the source tree, as a git repository, for commands that change it."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(folder: Path, *command: object) -> "subprocess.CompletedProcess[str]":
    """Run a command in a folder."""
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)


def succeed(folder: Path, *command: object) -> str:
    """Return the output of a command that has to succeed."""
    result = run(folder, *command)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def copy_tree(target: Path) -> Path:
    """Make a repository whose only commit is the source tree, with the changes not committed yet."""
    listed = run(ROOT, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed.returncode != 0:
        pytest.skip("the source tree is not a git repository")
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name, follow_symlinks=False)
    make_repository(target)
    return target


def make_repository(folder: Path) -> None:
    """Commit all files of a folder."""
    for command in (
        ("init", "--quiet", "--initial-branch", "main"),
        ("config", "user.name", "Strongroom's tests"),
        ("config", "user.email", "tests@example.com"),
        ("add", "--all"),
        ("commit", "--quiet", "--message", "Source tree"),
    ):
        succeed(folder, "git", *command)
