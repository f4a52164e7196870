"""The PID file of a running server."""

import fcntl
import logging
import os

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
                # A stale file is not locked, whatever process has its id today.
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None
        except FileNotFoundError:
            return None
        except BlockingIOError:
            return int(self._path.read_text())
