"""Runs ``strongroom`` as its users do, in a process of its own, that need not import everything first.

Hundreds of tests run a command, and what each takes is nearly all imports. So the process is a copy of
one that has imported the core, and nothing else, and has done nothing yet. How the command starts from
nothing is what the tests show that run it as a program.
"""

import multiprocessing
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

_STREAMS = ("stdin", "stdout", "stderr")

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(["strongroom.cli.main", "strongroom.cli.serve", "strongroom.app"])


def run_command(
    *arguments: str,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = 60,
) -> "subprocess.CompletedProcess[str]":
    """Run ``strongroom`` and return what it said.

    Raises:
        subprocess.TimeoutExpired: it does not end within so many seconds.
    """
    command = ["strongroom", *arguments]
    with TemporaryDirectory() as folder:
        streams = {name: Path(folder) / name for name in _STREAMS}
        streams["stdin"].write_text(stdin)
        variables = {**os.environ, **(env or {})}
        process = _context.Process(target=_main, args=(command, streams, variables, cwd or Path.cwd()))
        process.start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(command, timeout)
        said = [streams[name].read_text() for name in ("stdout", "stderr")]
        return subprocess.CompletedProcess(command, process.exitcode, *said)


def _main(
    command: list[str], streams: Mapping[str, Path], variables: Mapping[str, str], cwd: Path
) -> None:
    """Be the command; what a new process is given by the system, this one takes by itself."""
    for descriptor, name in enumerate(_STREAMS):
        opened = os.open(streams[name], os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdin = os.fdopen(0)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(cwd)
    sys.argv = command
    sys.path[:0] = filter(None, variables.get("PYTHONPATH", "").split(os.pathsep))

    from strongroom.cli.main import main

    main()
