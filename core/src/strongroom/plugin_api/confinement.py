"""Child processes that decode hostile content, such as pictures and documents.

Decoders are large C libraries. So each content is decoded in a process of its own, without secrets, with
limited memory and time, that can open neither files nor connections. The server starts a module by
:func:`run_confined`. The module imports all that it needs, calls :func:`confine`, and only then reads
the content from its standard input; it writes the result to its standard output.
"""

import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Timer
from typing import BinaryIO, Final

_PR_SET_DUMPABLE: Final = 4
_PR_SET_NO_NEW_PRIVS: Final = 38
_UNKNOWN_ADDRESS_SPACE: Final = 256 * 1024 * 1024


def run_confined(
    module: str, argument: str, *, content: BinaryIO, answer: BinaryIO, errors: BinaryIO, seconds: int
) -> int:
    """Run a module as a child process, wait for it, and return its exit status.

    The status is negative if a signal ended the process: ``-signal.SIGKILL`` also after ``seconds``.

    Args:
        module: the name of the module, which calls :func:`confine`.
        argument: its only command line argument, such as JSON.
        content: the file that it reads from; files instead of pipes, so that no process blocks on a full
            pipe.
        answer: the file for its standard output.
        errors: the file for its standard error.
        seconds: the limit of elapsed time, because the limit of CPU time does not cover a process that
            sleeps.

    Raises:
        OSError: the process cannot be started.
    """
    # -s and -P keep the user's site-packages and unsafe folders off the module path.
    process = subprocess.Popen(  # noqa: S603  no argument is a command from a client
        [sys.executable, "-s", "-P", "-m", module, argument],
        stdin=content,
        stdout=answer,
        stderr=errors,
        env=_environment(),
        cwd="/",
        start_new_session=True,
    )
    timer = Timer(seconds, process.kill)
    timer.start()
    try:
        return process.wait()
    finally:
        timer.cancel()


def confine(memory_bytes: int, seconds: int) -> None:
    """Drop the privileges of this process and limit its resources, before it reads hostile content.

    All modules must be imported before, because importing opens files.

    Args:
        memory_bytes: the limit of memory, in addition to the present one; also limits written files.
        seconds: the limit of CPU time.
    """
    with suppress(OSError, AttributeError):
        system = ctypes.CDLL(None)
        # Other processes of the same user cannot attach, and no program can gain privileges.
        system.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
        system.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _limit(resource.RLIMIT_AS, _address_space() + memory_bytes)
    _limit(resource.RLIMIT_CPU, seconds)
    _limit(resource.RLIMIT_FSIZE, memory_bytes)
    _limit(resource.RLIMIT_CORE, 0)
    # Files, sockets and pipes all need a new descriptor.
    _limit(resource.RLIMIT_NOFILE, 0)


def _environment() -> Mapping[str, str]:
    """Return an environment with only the package path, because the server's may contain secrets."""
    passed = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    path = os.pathsep.join(str(Path(folder).absolute()) for folder in sys.path)
    # The memory limit counts address space, and each malloc arena would reserve 64 MiB of it.
    return {**passed, "PYTHONPATH": path, "LC_ALL": "C.UTF-8", "MALLOC_ARENA_MAX": "1"}


def _limit(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    # macOS defines RLIMIT_AS but rejects setting it; the server's time limit applies everywhere.
    with suppress(OSError, ValueError):
        resource.setrlimit(kind, (value, value))


def _address_space() -> int:
    """Return the mapped address space of this process in bytes, or an estimate without ``/proc``."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return _UNKNOWN_ADDRESS_SPACE
    return pages * resource.getpagesize()
