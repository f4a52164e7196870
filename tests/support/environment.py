"""A virtual environment for the packages that a test installs, next to the server and its tools."""

import os
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_COMMAND = "#!{python}\nfrom strongroom.cli import main\nmain()\n"


@dataclass(frozen=True)
class Environment:
    """A virtual environment that also sees the packages of the tests' environment."""

    folder: Path

    @classmethod
    def create(cls, folder: Path) -> "Environment":
        """Make one, with the commands ``python``, ``pip``, ``pytest`` and ``strongroom``."""
        venv.create(folder, with_pip=False, symlinks=True)
        environment = cls(folder)
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        shared = folder / "lib" / version / "site-packages" / "shared.pth"
        # addsitedir reads the .pth files of editable installations.
        shared.write_text(f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n")
        for name in ("pip", "pytest"):
            environment._write(name, f'#!/bin/sh\nexec {environment.python} -m {name} "$@"\n')
        for name in ("ruff", "strongroom-client"):
            (environment.binaries / name).symlink_to(Path(sys.executable).with_name(name))
        environment._write("strongroom", _COMMAND.format(python=environment.python))
        return environment

    def prefer(self, sources: Path) -> None:
        """Import from a folder what the tests' environment has as well."""
        path = next((self.folder / "lib").glob("python*/site-packages")) / "sources.pth"
        path.write_text(f"import sys; sys.path.insert(0, {str(sources)!r})\n")

    @property
    def binaries(self) -> Path:
        """The folder of its commands."""
        return self.folder / "bin"

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.binaries / "python"

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables of who works in it, out of reach of any package index."""
        path = f"{self.binaries}{os.pathsep}{os.environ['PATH']}"
        return {
            **os.environ,
            "PATH": path,
            # pip's options that begin with "no" are set by a false value. To compare all packages of the
            # tests' environment with each other takes a third of an installation.
            "PIP_NO_COMPILE": "0",
            "PIP_NO_WARN_CONFLICTS": "0",
            "PIP_NO_INDEX": "1",
            "PIP_QUIET": "1",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            # The plugins of pytest in this environment are of no use to the tests of a new plugin.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    def run(
        self, *command: str | Path, cwd: Path, stdin: str = ""
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command and return its output."""
        return subprocess.run(
            command,
            cwd=cwd,
            input=stdin,
            env=self.variables,
            capture_output=True,
            text=True,
            timeout=1200,
            check=False,
        )

    def succeed(self, command: Sequence[str | Path], cwd: Path, stdin: str = "") -> str:
        """Run a command that must succeed, and return its output."""
        result = self.run(*command, cwd=cwd, stdin=stdin)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    def _write(self, name: str, text: str) -> None:
        path = self.binaries / name
        path.write_text(text)
        path.chmod(0o755)
