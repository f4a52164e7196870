"""A real pgbouncer before the PostgreSQL of the tests."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from sqlalchemy import URL, make_url

from strongroom.testing.server import free_port
from tests.support.server import is_listening
from tests.support.waiting import wait_until

PROGRAM = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
STOP_SECONDS = 60

Mode = Literal["session", "transaction"]

needs_pgbouncer = pytest.mark.skipif(PROGRAM is None, reason="pgbouncer is not installed")

_CONFIG = """\
[databases]
* = host={host} port={port} user={user}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
max_client_conn = 1000
max_user_connections = 0
server_idle_timeout = 5
ignore_startup_parameters = {ignored}
"""


@dataclass(frozen=True)
class Pooler:
    """A pgbouncer of a test's own."""

    port: int
    process: "subprocess.Popen[bytes]"

    @classmethod
    @contextmanager
    def serving(
        cls, server_url: str, mode: Mode, *, size: int = 4, ignored: str = "extra_float_digits"
    ) -> Iterator["Pooler"]:
        """Run a pooler for all databases of a server, until the block ends.

        Args:
            size: sessions of the server for each database; transactions take turns on them.
            ignored: the startup parameters that it drops; it refuses all other ones.
        """
        server = make_url(server_url)
        settings = {
            "host": server.query.get("host") or server.host,
            "port": server.port or server.query.get("port") or 5432,
            "user": server.username,
            "listen": (port := free_port()),
            "mode": mode,
            "size": size,
            "ignored": ignored,
        }
        # Not below pytest's own folder, which another user cannot read.
        with tempfile.TemporaryDirectory(prefix="strongroom-pooler-") as folder:
            config = Path(folder, "pgbouncer.ini")
            config.write_text(_CONFIG.format(**settings))
            Path(folder).chmod(0o755)
            pooler = cls(port, _run(config, Path(str(settings["host"]))))
            try:
                wait_until(lambda: is_listening(port))
                yield pooler
            finally:
                pooler.kill()

    def url(self, database_url: str) -> str:
        """Return the URL of a database through the pooler."""
        direct = make_url(database_url)
        pooled = URL.create(
            direct.drivername, direct.username, None, "127.0.0.1", self.port, direct.database
        )
        return pooled.render_as_string()

    def kill(self) -> None:
        """End it, so that connections are refused."""
        self.process.kill()
        self.process.wait(timeout=STOP_SECONDS)


def _run(config: Path, sockets: Path) -> "subprocess.Popen[bytes]":
    assert PROGRAM is not None
    # It refuses to run as root; the user of the server can reach its sockets.
    user = sockets.stat().st_uid if os.geteuid() == 0 else None
    return subprocess.Popen(
        [PROGRAM, "--quiet", str(config)],
        user=user,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
