"""A server that runs on this machine: its PID file, and requests to its own port."""

import fcntl
import logging
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Final

from strongroom.config import Settings

logger = logging.getLogger(__name__)


class PidFile:
    """A locked PID file. The lock is held as long as any process of the server lives.

    Args:
        settings: the settings of the server.
        port: the port that the server listens on; each port has its own file.
    """

    def __init__(self, settings: Settings, port: int) -> None:
        self._path = settings.server.data_dir.absolute() / f"serve-{port}.pid"
        self._file: int | None = None

    def hold(self) -> None:
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


READY_SECONDS: Final = 15.0
"""Seconds to wait for readiness once the server listens."""

_TIMEOUT_SECONDS: Final = 2.0
_STEP_SECONDS: Final = 0.1
_ANY_ADDRESS: Final = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # noqa: S104  compared


def is_ok(settings: Settings, path: str, timeout: float = _TIMEOUT_SECONDS) -> bool:
    """Return whether a GET succeeds on the server of this machine.

    Args:
        settings: the settings of the server.
        path: the path below its ``base_path``.
        timeout: seconds to wait for a response.
    """
    server = settings.server
    host = f"[{server.host}]" if ":" in server.host else server.host
    authority = f"{_ANY_ADDRESS.get(server.host, host)}:{server.port}"
    try:
        with urllib.request.urlopen(f"http://{authority}{server.base_path}{path}", timeout=timeout):
            return True
    except (urllib.error.URLError, OSError):
        return False


def wait_until_serving(settings: Settings, is_abandoned: Callable[[], bool]) -> str | None:
    """Wait until the server is ready, or until it has listened for ``READY_SECONDS``.

    The wait is limited, because a backend that is unavailable must not make the service manager time
    out and kill the server.

    Returns:
        The problem if the server is not ready, else ``None``.
    """
    while not is_ok(settings, "/livez") and not is_abandoned():
        time.sleep(_STEP_SECONDS)
    deadline = time.monotonic() + READY_SECONDS
    while not is_ok(settings, "/readyz") and not is_abandoned():
        if time.monotonic() > deadline:
            return "serving, but not ready: see readyz"
        time.sleep(_STEP_SECONDS)
    return None
