"""Inject faults into layouts under load, and print a table: ``python -m tests.faults``.

It needs root, for network namespaces: it runs itself in namespaces of its own, which end with it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.faults.campaign import Pace, copy_logs, run_campaign, table
from tests.faults.layouts import LAYOUTS

_INSIDE = "STRONGROOM_TEST_FAULTS_INSIDE"
_NAMESPACES = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def main() -> int:
    """Run the campaign and return the exit code."""
    arguments = _parse()
    if _INSIDE not in os.environ:
        return _run_inside()
    if os.getpid() == 1 and (child := os.fork()):
        return _bury_until(child)
    folder = Path(os.environ[_INSIDE])
    pace = Pace(arguments.rate, arguments.users, arguments.seconds, arguments.calm)
    results = []
    try:
        for name in [arguments.layout] if arguments.layout else LAYOUTS:
            results += run_campaign(LAYOUTS[name], arguments.only, folder, pace)
    finally:
        if arguments.logs is not None:
            copy_logs(folder, arguments.logs)
    sys.stdout.write(table(results))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))
    return 1 if any(result["broken"] for result in results) else 0


def _run_inside() -> int:
    """Run the same command in namespaces, whose processes and disks end with it."""
    # PostgreSQL's user must be able to enter the folder.
    with tempfile.TemporaryDirectory(prefix="strongroom-faults-") as folder:
        Path(folder).chmod(0o755)
        command = [*_NAMESPACES, sys.executable, "-m", "tests.faults", *sys.argv[1:]]
        return subprocess.run(command, env={**os.environ, _INSIDE: folder}, check=False).returncode


def _bury_until(child: int) -> int:
    """Wait for all orphans, which the first process inherits, until a child ends; return its exit code.

    Patroni takes a zombie for a running PostgreSQL.
    """
    while True:
        pid, status = os.wait()
        if pid == child:
            return os.waitstatus_to_exitcode(status)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults")
    parser.add_argument("--layout", choices=LAYOUTS, help="by default all of them")
    parser.add_argument("--only", default="", help="a regular expression for the names of kinds")
    parser.add_argument("--seconds", type=float, help="how long each fault lasts")
    parser.add_argument("--calm", type=float, default=4.0, help="seconds before and after each fault")
    parser.add_argument("--rate", type=int, default=50, help="operations per second")
    parser.add_argument("--users", type=int, default=8)
    parser.add_argument("--json", type=Path, help="the file of the results")
    parser.add_argument("--logs", type=Path, help="where the logs are kept")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
