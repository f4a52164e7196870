"""The processes of a server: its PID file, its readiness, and forked processes that end with it."""

import ctypes
import fcntl
import logging
import mmap
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Final

from strongroom.foundation.config import ConfigurationError, Settings

logger = logging.getLogger(__name__)

_SIGNAL_SECONDS: Final = 1.0


class SignalledEvent(threading.Event):
    """An event that signal handlers set, for which the main thread waits.

    Python runs signal handlers in the main thread, once it is awake. Usually the signal itself wakes it,
    but after a process was paused, the kernel may deliver the signal to another thread. So this event
    wakes the main thread now and then.
    """

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the event is set, or for ``timeout`` seconds; return whether it is set."""
        while timeout is None and not super().wait(_SIGNAL_SECONDS):
            pass
        return super().wait(timeout)


class WorkerStarts:
    """Which workers of a server have started; shared memory with the processes forked from this one."""

    def __init__(self) -> None:
        self._flags = mmap.mmap(-1, 1)
        self._count = 0

    def expect(self, count: int) -> None:
        """Wait for the first start of each of ``count`` workers; called before they are forked."""
        self._flags, self._count = mmap.mmap(-1, count), count

    def note(self, index: int) -> None:
        """Record that a worker has started; the first one has the index 0."""
        self._flags[index] = 1

    @property
    def are_complete(self) -> bool:
        """Whether each expected worker has started at least once."""
        return all(self._flags[: self._count])


STARTS: Final = WorkerStarts()
"""The starts of this server's workers; complete in a process that serves without a master."""


class PidFile:
    """A locked PID file. The lock is held as long as any process of the server lives.

    Args:
        port: the port that the server listens on; each port has its own file.
    """

    def __init__(self, settings: Settings, port: int) -> None:
        self._path = settings.server.data_dir.absolute() / f"serve-{port}.pid"
        self._file: int | None = None

    def lock(self) -> None:
        """Take the lock and write this process's id; the lock is released when the process ends."""
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.truncate(self._file, 0)
            os.write(self._file, str(os.getpid()).encode())
        except OSError as error:
            # Only ``strongroom drain`` needs the file, so the server starts without it.
            logger.warning("strongroom drain will not find this server: %s", error)

    def owner(self) -> int | None:
        """Return the process id of the server, or ``None`` if it is not running."""
        try:
            with self._path.open() as file:
                # A stale file is not locked, even if another process has its id today.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None
        except FileNotFoundError:
            return None
        except BlockingIOError:
            return int(self._path.read_text())


def wait_until_started(is_abandoned: Callable[[], bool]) -> bool:
    """Wait for the first start of all workers; return whether they have started."""
    while not STARTS.are_complete and not is_abandoned():
        time.sleep(_STEP_SECONDS)
    return STARTS.are_complete


READY_SECONDS: Final = 15.0
"""Seconds to wait for readiness once the server serves."""

_TIMEOUT_SECONDS: Final = 2.0
_STEP_SECONDS: Final = 0.1
_ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104  compared


def is_ok(settings: Settings, path: str, timeout: float = _TIMEOUT_SECONDS) -> bool:
    """Return whether a GET of a path below ``base_path`` succeeds on the server of this machine."""
    # Only needed with a service manager or a management interface.
    from urllib.request import urlopen

    server = settings.server
    host = f"[{server.host}]" if ":" in server.host else server.host
    authority = f"{_ANY_ADDRESS.get(server.host, host)}:{server.port}"
    try:
        with urlopen(f"http://{authority}{server.base_path}{path}", timeout=timeout):
            return True
    except OSError:
        return False


def wait_until_ready(settings: Settings, is_abandoned: Callable[[], bool]) -> str | None:
    """Wait until a server that serves is ready, at most for ``READY_SECONDS``.

    The wait is limited, because a backend that is unavailable must not make the service manager time
    out and kill the server.

    Returns:
        The problem if the server is not ready, else ``None``.
    """
    deadline = time.monotonic() + READY_SECONDS
    while not is_ok(settings, "/readyz") and not is_abandoned():
        if time.monotonic() > deadline:
            return "serving, but not ready: see readyz"
        time.sleep(_STEP_SECONDS)
    return None


_PR_SET_PDEATHSIG: Final = 1


def in_own_process(work: Callable[[], None], meanwhile: Callable[[], object] | None = None) -> None:
    """Run ``work`` in a forked process and wait until it exits.

    ``work`` constructs plugins and never closes them, so in the server each plugin is closed exactly
    once, when it stops. Threads and locks of plugins end with the process, before the workers start.

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
    # Until a worker sets its own handlers, it has the parent's, which would swallow SIGTERM.
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
