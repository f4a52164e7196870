"""The file that names the process of a running server."""

import fcntl
import logging
import os

from strongroom.config import Settings

logger = logging.getLogger(__name__)


class PidFile:
    """Names the process of a server; its lock is held for as long as one of the processes lives.

    Args:
        settings: of the server.
        port: that it listens on.
    """

    def __init__(self, settings: Settings, port: int) -> None:
        self._path = settings.server.data_dir.absolute() / f"serve-{port}.pid"
        self._file: int | None = None

    def hold(self) -> None:
        """Write this process's id and take the lock, until the process ends."""
        try:
            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.truncate(self._file, 0)
            os.write(self._file, str(os.getpid()).encode())
        except OSError as error:
            logger.warning("strongroom drain will not find this server: %s", error)

    def owner(self) -> int | None:
        """Return the process id of the server, or ``None`` if none runs."""
        try:
            with self._path.open() as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
                return None
        except FileNotFoundError:
            return None
        except BlockingIOError:
            return int(self._path.read_text())
