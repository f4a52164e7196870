"""The commands of ``docs/operate/point-in-time.md``: they recover a server to a moment."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import psycopg
import pytest

from strongroom.content.storage.service import BlobService
from strongroom.extensions.storage_maintenance.fsck import StorageCheck
from strongroom.testing.server import free_port
from tests.support.api import Api
from tests.support.commands import run_command
from tests.support.databases import migrate
from tests.support.server import write_config
from tests.support.waiting import wait_until

PAGE: Final = Path(__file__).parents[2] / "docs/operate/point-in-time.md"
KEEP_LOG, BASE_BACKUP, NOW, RECOVER, CHECK = re.findall(r"```sh\n(.*?)```", PAGE.read_text(), re.DOTALL)
USER: Final = "postgres"

pytestmark = pytest.mark.extended


@dataclass
class Machine:
    """A machine with PostgreSQL, where commands of the page are run."""

    folder: Path
    programs: Path
    port: int

    def run(self, block: str, **more: str) -> str:
        """Run the commands of a block as PostgreSQL's user, and return what they print."""
        # The folders of the page belong to the system.
        commands = block.replace("/var/backups/postgresql", str(self.folder / "backups"))
        # What the server inherits stays open, so a file and no pipe.
        with (self.folder / "output").open("w") as output:
            result = subprocess.run(
                ["bash", "-e", "-c", commands],
                env=self._environment | more,
                user=USER if os.geteuid() == 0 else None,
                cwd=self.folder,
                stdout=output,
                stderr=subprocess.STDOUT,
                check=False,
            )
        printed = (self.folder / "output").read_text()
        assert result.returncode == 0, printed
        return printed

    @property
    def _environment(self) -> dict[str, str]:
        return {
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "PGDATA": str(self.folder / "data"),
            "PGHOST": str(self.folder),
            "PGPORT": str(self.port),
            "PGUSER": USER,
        }

    def query(self, statement: str, database: str = "postgres") -> str:
        """Return the first value of a query."""
        url = f"postgresql://{USER}@127.0.0.1:{self.port}/{database}"
        with psycopg.connect(url, autocommit=True) as connection:
            row = connection.execute(statement.encode()).fetchone()
        return str(row and row[0])


@pytest.fixture
def machine() -> Iterator[Machine]:
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_basebackup"))
    if not programs:
        pytest.skip("no PostgreSQL is installed; see .ci/run")
    # Its user cannot enter pytest's folders.
    with TemporaryDirectory(prefix="strongroom-recovery-") as name:
        folder = Path(name)
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
        machine = Machine(folder, programs[-1].parent, free_port())
        (folder / "start.conf").write_text(
            f"port = {machine.port}\nlisten_addresses = '127.0.0.1'\n"
            f"unix_socket_directories = '{folder}'\nfsync = off\n"
        )
        machine.run(
            f'initdb -D "$PGDATA" -U {USER} -A trust -E UTF8 --no-sync\n'
            'cat start.conf >> "$PGDATA/postgresql.conf"\n'
            'pg_ctl -D "$PGDATA" -w -l "$PGDATA/../postgresql.log" start\n'
            "createdb strongroom"
        )
        try:
            yield machine
        finally:
            machine.run('pg_ctl -D "$PGDATA" -m immediate stop || true')


def test_all_that_was_acknowledged_before_a_moment_is_recovered(
    machine: Machine, tmp_path: Path
) -> None:
    machine.run(KEEP_LOG)
    url = f"postgresql+psycopg://{USER}@127.0.0.1:{machine.port}/strongroom"
    migrate(url)
    config = write_config(tmp_path, url, {"files": {"removal_delay_days": 7}})
    contents = {f"before {number}": os.urandom(500) for number in range(20)}
    with Api.running(config) as api:
        alice = api.person()
        tenant = api.tenant(alice)
        machine.run(BASE_BACKUP)
        nodes = {name: api.upload(tenant, alice, name, content) for name, content in contents.items()}
        moment = machine.run(NOW).strip()
        for number, node in enumerate([*nodes.values()][:10]):
            query = "?permanently=true" if number % 2 else ""
            path = f"{tenant}/files/{node['id']}{query}"
            assert api.delete(path, by=alice).status_code == 200
        assert api.container.get(BlobService).collect() == 0
        api.upload(tenant, alice, "after", b"later")
    log = machine.query("SELECT pg_walfile_name(pg_switch_wal())")
    archived = machine.folder / "backups/wal" / log
    wait_until(archived.exists)
    machine.run(RECOVER, TIME=moment)
    *end_sessions, check = (line.split()[1:] for line in CHECK.splitlines())
    for command in end_sessions:
        assert run_command("--config", str(config), *command).returncode == 0
    # An object that was stored after the moment may have a reserved row, or be stray.
    report = run_command("--config", str(config), *check).stdout
    assert "missing" not in report
    with Api.running(config) as api:
        assert api.get(f"{tenant}/owners/me/files", by=alice).status_code == 401
        alice.token = api.log_in(alice.email).headers["X-Access-Token"]
        listed = api.get(f"{tenant}/owners/me/files?pageSize=100", by=alice).json["data"]
        assert {item["name"] for item in listed} == set(contents)
        for name, node in nodes.items():
            assert api.get(f"{tenant}/files/{node['id']}/download", by=alice).data == contents[name]
        findings = api.container.get(StorageCheck).run(checksums=True, repair=False)
        assert {finding.kind.value for finding in findings} <= {"stray"}
