"""Reads the state of a server's processes from the operating system."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support.server import Server

KIBIBYTE = 1024
SAMPLE_SECONDS = 0.01


class MemoryWatch:
    """Samples the resident memory of all processes of a server."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.peak = self.now()

    def now(self) -> int:
        """Return the bytes held by the master and the workers together."""
        return sum(map(_resident, (self._server.process.pid, *self._server.workers())))

    @contextmanager
    def sampling(self) -> Iterator[None]:
        """Keep the highest sample in :attr:`peak` until the block ends."""
        ended = threading.Event()
        sampler = threading.Thread(target=self._sample, args=[ended])
        sampler.start()
        try:
            yield
        finally:
            ended.set()
            sampler.join()

    def _sample(self, ended: threading.Event) -> None:
        while not ended.wait(SAMPLE_SECONDS):
            self.peak = max(self.peak, self.now())


def worker_behind(server: Server, connection: Any) -> int:
    """Return the process that has accepted a client's open connection."""
    client_port, server_port = connection.sock.getsockname()[1], connection.sock.getpeername()[1]
    link = f"socket:[{_inode(server_port, client_port)}]"
    (holder,) = (pid for pid in server.workers() if link in _open_files(pid))
    return holder


def held_remote_ports() -> set[int]:
    """Return the remote ports of all connections over IPv4 that some process holds."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    # Without an inode, it is the kernel's alone, on its way out.
    return {int(row[2].rpartition(":")[2], 16) for row in rows if row[9] != "0"}


def _resident(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * KIBIBYTE


def _inode(local_port: int, remote_port: int) -> str:
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        columns = line.split()
        ports = tuple(int(address.rpartition(":")[2], 16) for address in columns[1:3])
        if ports == (local_port, remote_port):
            return columns[9]
    raise LookupError(f"no connection from port {remote_port} to port {local_port}")


def _open_files(pid: int) -> set[str]:
    links = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        # A descriptor may be closed after it was listed.
        try:
            links.add(str(descriptor.readlink()))
        except FileNotFoundError:
            continue
    return links
