"""A mutant: the code with one security guard removed, and the tests that notice it."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.mutants.places import replaced

ROOT = Path(__file__).parents[2]
TIMEOUT_SECONDS = 300
_FAILED = 1
"""The exit status of pytest if tests failed; others mean that it ran none, or not to their end."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One replacement in one module.

    Args:
        name: a short name, unique among all mutants.
        guard: the rule that the replaced code enforces.
        module: the path of the module from the root of the repository.
        function: the function or class to change, as in ``Class.method``; empty for all of the module.
        old: a part of it that occurs once; the layout does not matter.
        new: its replacement, without the guard; its lines after the first are indented like ``old``.
        tests: the tests that fail without the guard: path, ``::``, and name without parameters.
    """

    name: str
    guard: str
    module: str
    function: str
    old: str
    new: str
    tests: tuple[str, ...]

    @property
    def source_root(self) -> Path:
        """The folder of packages that holds the module, relative to the root of the repository."""
        parts = Path(self.module).parts
        return Path(*parts[: parts.index("src") + 1])

    def mutated(self) -> str:
        """Return the module's text without the guard.

        Raises:
            LookupError: the code has changed, so the replacement does not apply.
        """
        text = (ROOT / self.module).read_text(encoding="utf-8")
        return replaced(text, self.function, self.old, self.new)


def copy_sources(source_root: Path, folder: Path) -> Path:
    """Copy a folder of packages and return the copy.

    Compiled modules are copied with their sources, whose times stay the same, so that a run compiles
    the mutated module only.
    """
    copy = folder / source_root
    shutil.copytree(ROOT / source_root, copy)
    return copy


def write_mutant(mutant: Mutant, folder: Path) -> Path:
    """Copy the sources that a mutant changes, change the copy, and return its folder of packages."""
    copy = copy_sources(mutant.source_root, folder)
    (folder / mutant.module).write_text(mutant.mutated(), encoding="utf-8")
    return copy


def run_tests(tests: tuple[str, ...], sources: Path) -> "subprocess.CompletedProcess[str]":
    """Run tests against a copy of the sources until the first fails.

    On SQLite only, because a guard that is gone is gone on every database.

    Raises:
        subprocess.TimeoutExpired: they do not end within :data:`TIMEOUT_SECONDS`.
    """
    options = ["-x", "-q", "-k", "not postgresql", "-p", "no:cacheprovider"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment = {
        **inherited,
        # Importing the plugins of pytest takes as long as a test.
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        # Before site-packages, and so before the editable installation.
        "PYTHONPATH": str(sources),
    }
    command = [sys.executable, "-m", "pytest", *options, *tests]
    return subprocess.run(
        command,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def is_killed(run: "subprocess.CompletedProcess[str]") -> bool:
    """Return whether a test failed, rather than an import, a fixture or the command line."""
    return run.returncode == _FAILED and " failed" in run.stdout.rstrip().rpartition("\n")[2]
