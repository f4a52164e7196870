"""``python -m release.editables UV PROJECT...``: install source trees in place, into this environment.

Installers start the build backend several times for each project, in an environment of its own. Building
all projects in one process takes a tenth of the time.
"""

import json
import subprocess
import sys
import sysconfig
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

from hatchling.build import build_editable


def install(uv: str, projects: list[Path]) -> None:
    """Install projects in place; their dependencies and the build backend must be installed."""
    with TemporaryDirectory() as folder:
        wheels = {_build(project, folder): project for project in projects}
        _run(
            uv,
            "pip",
            "install",
            "--python",
            sys.executable,
            "--quiet",
            "--no-deps",
            "--reinstall",
            *wheels,
        )
    for wheel, project in wheels.items():
        _record_source(wheel, project)


def _build(project: Path, folder: str) -> str:
    # The hooks of build backends (PEP 517 and 660) work on the current directory.
    with chdir(project):
        return str(Path(folder, build_editable(folder)))


def _run(*command: str) -> None:
    subprocess.run(command, check=True)  # noqa: S603  the installer that make has installed


def _record_source(wheel: str, project: Path) -> None:
    """Record the project as the source (PEP 610), as ``pip install -e`` does, instead of the wheel."""
    name, version, *_ = Path(wheel).name.split("-")
    information = Path(sysconfig.get_path("purelib"), f"{name}-{version}.dist-info")
    source = {"url": project.absolute().as_uri(), "dir_info": {"editable": True}}
    (information / "direct_url.json").write_text(json.dumps(source))


if __name__ == "__main__":
    install(sys.argv[1], [Path(argument) for argument in sys.argv[2:]])
