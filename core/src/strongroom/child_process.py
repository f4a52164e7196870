"""Forked processes that do not outlive the one that started them."""

import ctypes
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Final

from strongroom.config import ConfigurationError

_PR_SET_PDEATHSIG: Final = 1


def in_own_process(work: Callable[[], None], meanwhile: Callable[[], object] | None = None) -> None:
    """Run ``work`` in a forked process and wait until it exits.

    ``work`` constructs plugins and never closes them, so in the server each plugin is closed exactly
    once, when it stops. Threads and locks of plugins end with the process, before the workers start.

    Args:
        work: runs in the forked process.
        meanwhile: runs in this process, at the same time.

    Raises:
        ConfigurationError: ``work`` raised it.
        SystemExit: ``work`` raised another exception, whose traceback was printed.
    """
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_report, args=(work, sender, os.getpid()))
    process.start()
    # Without this, recv would never see the end of the pipe if the child dies.
    sender.close()
    if meanwhile:
        meanwhile()
    try:
        problems = receiver.recv()
    except EOFError:
        process.join()
        sys.exit(process.exitcode or 1)
    process.join()
    if problems:
        raise ConfigurationError(problems)


def end_with(parent: int) -> None:
    """Terminate this process when its parent exits or is killed, so that no port stays in use."""
    if sys.platform != "linux":
        return
    # Until a worker sets its own handlers, it has those of the parent, which would swallow SIGTERM.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    # The parent may have exited before prctl.
    if os.getppid() != parent:
        sys.exit(1)


def _report(work: Callable[[], None], sender: Connection, parent: int) -> None:
    end_with(parent)
    try:
        work()
    except ConfigurationError as error:
        sender.send(error.problems)
    else:
        sender.send(())
    # Skips the interpreter's shutdown, which would wait for threads of plugins.
    sys.stderr.flush()
    os._exit(0)
