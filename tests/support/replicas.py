"""A real streaming standby of a PostgreSQL of the tests."""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psycopg
from sqlalchemy import make_url

from tests.support.databases import PostgresqlDatabases
from tests.support.waiting import wait_until

_PORT = 5433
_STOP_SECONDS = 60


@dataclass
class Pair:
    """A primary, and its streaming standby.

    Args:
        primary: the primary, of the test alone.
        socket_folder: the folder of the sockets of both.
        standby_folder: the data of the standby.
    """

    primary: PostgresqlDatabases
    socket_folder: str
    standby_folder: Path
    standby: "subprocess.Popen[bytes]"

    @classmethod
    @contextmanager
    def serving(cls, name: str = "standby") -> Iterator["Pair"]:
        """Run both servers until the block ends.

        Args:
            name: the ``application_name`` of the standby at the primary.
        """
        # Not below pytest's own folder, which the servers' user cannot read.
        with tempfile.TemporaryDirectory(prefix="strongroom-pair-") as folder:
            primary = PostgresqlDatabases(Path(folder))
            try:
                sockets = str(make_url(primary.server_url).query["host"])
                data = Path(folder, "standby")
                _copy(primary, sockets, data, name)
                pair = cls(primary, sockets, data, _start(primary, sockets, data))
                try:
                    wait_until(pair.is_streaming)
                    yield pair
                finally:
                    pair.stop_standby()
            finally:
                primary.stop()

    def create(self, name: str) -> str:
        """Return the URL of a new migrated database of the primary, which the standby has as well."""
        self.primary.execute(f"CREATE DATABASE {name} TEMPLATE {self.primary.template}")
        wait_until(lambda: self._standby_has(name))
        return self.primary.url(name)

    def standby_url(self, database_url: str) -> str:
        """Return the URL of the same database of the standby."""
        url = make_url(database_url).update_query_dict({"port": str(_PORT)})
        return url.render_as_string(hide_password=False)

    def both_url(self, database_url: str) -> str:
        """Return the URL with the standby first and the primary second."""
        hosts = {"host": f"{self.socket_folder},{self.socket_folder}", "port": f"{_PORT},5432"}
        url = make_url(database_url).update_query_dict(hosts)
        return url.render_as_string(hide_password=False)

    def is_streaming(self) -> bool:
        """Whether the standby receives the changes of the primary."""
        with psycopg.connect(self.primary.server_url, autocommit=True) as connection:
            state = connection.execute("SELECT state FROM pg_stat_replication").fetchone()
        return state == ("streaming",)

    def require_standby(self) -> None:
        """Make each durable commit wait for the standby from now on."""
        self.primary.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.primary.execute("SELECT pg_reload_conf()")

        def is_synchronous() -> bool:
            with psycopg.connect(self.primary.server_url, autocommit=True) as connection:
                state = connection.execute("SELECT sync_state FROM pg_stat_replication").fetchone()
            return state == ("sync",)

        wait_until(is_synchronous)

    def release_standby(self) -> None:
        """Let commits no longer wait for the standby."""
        self.primary.execute("ALTER SYSTEM RESET synchronous_standby_names")
        self.primary.execute("SELECT pg_reload_conf()")

    def freeze_standby(self) -> None:
        """Stop the processes of the standby, which stays connected."""
        for pid in self.standby_processes():
            os.kill(pid, signal.SIGSTOP)

    def thaw_standby(self) -> None:
        """Let the standby continue."""
        for pid in self.standby_processes():
            os.kill(pid, signal.SIGCONT)

    def stop_standby(self) -> None:
        """Kill the standby, as a power cut would."""
        if self.standby.poll() is None:
            self.standby.kill()
            self.standby.wait(timeout=_STOP_SECONDS)

    def stop_primary(self) -> None:
        """End the primary at once, which closes all connections."""
        pid = int((self.primary.data_folder / "postmaster.pid").read_text().splitlines()[0])
        os.kill(pid, signal.SIGQUIT)
        wait_until(lambda: not (self.primary.data_folder / "postmaster.pid").exists())

    def promote(self) -> None:
        """Make the standby the primary."""
        with psycopg.connect(self._standby_server(), autocommit=True) as connection:
            connection.execute("SELECT pg_promote(wait => true)")

    def execute_on_standby(self, statement: str) -> object:
        """Run a statement on the standby, and return its value, if it has one."""
        with psycopg.connect(self._standby_server(), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            row = cursor.fetchone() if cursor.description else None
        return row and row[0]

    def standby_processes(self) -> list[int]:
        """Return the ids of the standby's processes."""
        children = Path(f"/proc/{self.standby.pid}/task/{self.standby.pid}/children").read_text()
        return [self.standby.pid, *map(int, children.split())]

    def _standby_has(self, name: str) -> bool:
        with psycopg.connect(self._standby_server(), autocommit=True) as connection:
            query = "SELECT count(*) FROM pg_database WHERE datname = %s"
            return connection.execute(query, [name]).fetchone() == (1,)

    def _standby_server(self) -> str:
        return self.standby_url(self.primary.server_url)


def _copy(primary: PostgresqlDatabases, sockets: str, data: Path, name: str) -> None:
    source = f"host={sockets} user=postgres application_name={name}"
    owner = primary.data_folder.stat()
    data.mkdir(mode=0o700)
    os.chown(data, owner.st_uid, owner.st_gid)
    command = ["pg_basebackup", "-d", source, "-D", str(data), "-R", "-X", "stream", "-c", "fast"]
    subprocess.run(
        [primary.program(command[0]), *command[1:]],
        check=True,
        user=owner.st_uid,
        group=owner.st_gid,
        cwd="/",
    )


def _start(primary: PostgresqlDatabases, sockets: str, data: Path) -> "subprocess.Popen[bytes]":
    owner = data.stat()
    return subprocess.Popen(
        [primary.program("postgres"), "-D", str(data), "-h", "", "-k", sockets, "-p", str(_PORT)],
        user=owner.st_uid,
        group=owner.st_gid,
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
