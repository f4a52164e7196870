"""Runs ``strongroom`` in processes that need not import the core.

Hundreds of tests run a command or a server, and imports take most of their processor time. So each
process is forked from one that has imported the core and has done nothing else. Tests of the start
itself run the installed program.
"""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from strongroom.testing.server import use_launcher
from tests.support.waiting import STALL_SECONDS

_STREAMS = ("stdin", "stdout", "stderr")

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    [
        *(
            "strongroom.cli.main",
            "strongroom.cli.server_commands",
            "strongroom.assembly.app",
            "strongroom.assembly.server_process",
        ),
        # The core imports them when it checks the first password and address.
        *("zxcvbn", "email_validator"),
    ]
)


class CommandProcess:
    """A running command, with the interface of :class:`subprocess.Popen`.

    Args:
        arguments: those of ``strongroom``.
        streams: the files of stdin, stdout and stderr.
        env: the environment variables.
        cwd: the working folder.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        streams: Mapping[str, Path],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        variables = dict(os.environ if env is None else env)
        command = ["strongroom", *arguments]
        self._process = _context.Process(
            target=_main, args=(command, streams, variables, cwd or Path.cwd())
        )
        self._process.start()

    @property
    def pid(self) -> int:
        assert self._process.pid is not None
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status.

        Raises:
            subprocess.TimeoutExpired: the process still runs after ``timeout`` seconds.
        """
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("strongroom", timeout or 0)
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the process has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class ForkedPrograms:
    """Starts the servers of the testing kit, and their commands."""

    def run(
        self, arguments: Sequence[str], stdin: str, environment: Mapping[str, str]
    ) -> "subprocess.CompletedProcess[str]":
        return _run(arguments, stdin, environment)

    def start(
        self, arguments: Sequence[str], log: Path, environment: Mapping[str, str]
    ) -> CommandProcess:
        log.write_bytes(b"")
        streams = {"stdin": Path(os.devnull), "stdout": log, "stderr": log}
        return CommandProcess(arguments, streams, environment)


use_launcher(ForkedPrograms())


def run_command(
    *arguments: str,
    stdin: str = "",
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    timeout: float = STALL_SECONDS,
) -> "subprocess.CompletedProcess[str]":
    """Run a command and return its output.

    Raises:
        subprocess.TimeoutExpired: the command still runs after ``timeout`` seconds.
    """
    return _run(arguments, stdin, {**os.environ, **(env or {})}, cwd, timeout)


def _run(
    arguments: Sequence[str],
    stdin: str,
    env: Mapping[str, str],
    cwd: Path | None = None,
    timeout: float = STALL_SECONDS,
) -> "subprocess.CompletedProcess[str]":
    with TemporaryDirectory() as folder:
        streams = {name: Path(folder) / name for name in _STREAMS}
        streams["stdin"].write_text(stdin)
        process = CommandProcess(arguments, streams, env, cwd)
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise
        output, errors = (streams[name].read_text() for name in ("stdout", "stderr"))
        return subprocess.CompletedProcess(["strongroom", *arguments], status, output, errors)


def _main(
    command: list[str], streams: Mapping[str, Path], variables: Mapping[str, str], cwd: Path
) -> None:
    """Become the command: take over the state that the system creates for a new process."""
    # Garbage collection would copy the memory of all imported modules, which this process shares.
    gc.freeze()
    for descriptor, name in enumerate(_STREAMS):
        opened = os.open(streams[name], os.O_RDWR | os.O_CREAT | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)
    sys.stdin = os.fdopen(0)
    os.environ.clear()
    os.environ.update(variables)
    os.chdir(cwd)
    sys.argv = command
    # The default of Linux, which this process does not inherit.
    multiprocessing.set_start_method("fork", force=True)
    sys.path[:0] = filter(None, variables.get("PYTHONPATH", "").split(os.pathsep))

    from strongroom.cli.main import main
    from strongroom.web.http.middleware import DRAINING, DrainFlag

    # Its memory is shared with all forks, so each server needs its own.
    vars(DRAINING).update(vars(DrainFlag()))
    main()
