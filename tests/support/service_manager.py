"""A service manager for tests: keeps the sockets of a service and passes them on, as systemd does."""

import array
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.server import STOP_SECONDS
from tests.support.waiting import wait_until

_LAUNCH = """
import fcntl, os, sys
words = sys.argv[1].split(",") if sys.argv[1] else []
moved = [fcntl.fcntl(int(word), fcntl.F_DUPFD, 100) for word in words]
for index, descriptor in enumerate(moved):
    os.dup2(descriptor, 3 + index, inheritable=True)
# A further copy would listen after the service has closed its own.
os.closerange(3 + len(moved), max([100, *moved]) + 1)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(len(moved))}
os.environ["LISTEN_FDNAMES"] = sys.argv[2]
os.execvp(sys.argv[3], sys.argv[3:])
"""
_MOST_DESCRIPTORS = 8


@dataclass
class ServiceManager:
    """Runs one service of the type ``notify``, whose descriptors it stores.

    Args:
        folder: for the socket of the notifications and for the output.
        command: the service.
    """

    folder: Path
    command: Sequence[str | Path]
    stored: dict[str, int] = field(default_factory=dict)
    _ready: threading.Event = field(default_factory=threading.Event)

    @contextmanager
    def running(self) -> Iterator["ServiceManager"]:
        """Start the service, and stop it at the end of the block."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notifications:
            notifications.bind(str(self._address))
            receiving = threading.Thread(target=self._receive, args=(notifications,), daemon=True)
            receiving.start()
            self._start()
            try:
                yield self
            finally:
                self._stop()
                for descriptor in self.stored.values():
                    os.close(descriptor)
                notifications.shutdown(socket.SHUT_RDWR)
                receiving.join()

    def restart(self) -> None:
        """Do as ``systemctl restart``: stop the service, start it, and wait until it is ready."""
        self._stop()
        self._start()

    @property
    def _address(self) -> Path:
        return self.folder / "notify"

    def _start(self) -> None:
        self._ready.clear()
        descriptors = list(self.stored.values())
        launch = [sys.executable, "-c", _LAUNCH, ",".join(map(str, descriptors)), ":".join(self.stored)]
        with (self.folder / "service.log").open("ab") as output:
            self.process = subprocess.Popen(
                [*launch, *map(str, self.command)],
                env={**os.environ, "NOTIFY_SOCKET": str(self._address)},
                pass_fds=descriptors,
                stdout=output,
                stderr=output,
            )
        wait_until(lambda: self._ready.is_set() or self.process.poll() is not None)
        assert self.process.poll() is None, (self.folder / "service.log").read_text()

    def _stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=STOP_SECONDS)

    def _receive(self, notifications: socket.socket) -> None:
        space = socket.CMSG_SPACE(_MOST_DESCRIPTORS * array.array("i").itemsize)
        while message := notifications.recvmsg(4096, space):
            data, ancillary = message[:2]
            if not data:
                return
            self._note(dict(line.split("=", 1) for line in data.decode().splitlines()), ancillary)

    def _note(self, assigned: dict[str, str], ancillary: Sequence[tuple[int, int, bytes]]) -> None:
        if "FDSTORE" in assigned:
            for _, _, content in ancillary:
                self.stored[assigned["FDNAME"]] = array.array("i", content)[0]
        if "FDSTOREREMOVE" in assigned:
            os.close(self.stored.pop(assigned["FDNAME"]))
        if "READY" in assigned:
            self._ready.set()
