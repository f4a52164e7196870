"""The programs of ``examples/three-zones`` and ``ten-machines``, with the addresses of machines here."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.faults.databases import Database, programs
from tests.faults.machines import SUBNET, UNPRIVILEGED, Machine, Program
from tests.support.redis import executable

EXAMPLES: Final = Path(__file__).parents[2] / "examples"
SUPERUSER: Final = "superuser-secret"
PATRONI: Final = os.environ.get("STRONGROOM_TEST_PATRONI", "/opt/patroni/bin/patroni")
FIRST: Final = "zone1"
ADDRESSES: Final = {
    f"zone{zone}{letter}": f"10.0.{zone}.{number}"
    for number, letter in enumerate(("", "b", "c", "d"), 10)
    for zone in (1, 2, 3)
}
"""The names and addresses of machines in the examples."""

_ADDRESS: Final = re.compile(r"\b10\.0\.\d\.\d\d\b")
_SERVER: Final = re.compile(r" +server (\w+)")
# It names the first primary on every machine.
_MONITOR: Final = "sentinel monitor"


@dataclass(frozen=True)
class Zone:
    """A machine of the examples. They are written for the first one.

    Args:
        name: the name in the examples.
        machines: all of them, by their names in the examples.
        store: the address of the object store.
        folder: the example; files that it does not have are the ones of ``three-zones``.
    """

    name: str
    machines: Mapping[str, Machine]
    store: str
    folder: str = "three-zones"

    @property
    def machine(self) -> Machine:
        """The machine here."""
        return self.machines[self.name]

    def file(self, name: str, paths: Mapping[str, object] | None = None) -> Path:
        """Write a file of the example for this machine.

        Args:
            paths: what replaces folders of the example.
        """
        source = EXAMPLES / self.folder / name
        if not source.exists():
            source = EXAMPLES / "three-zones" / name
        text = "".join(map(self._line, source.read_text().splitlines(keepends=True)))
        for old, new in (paths or {}).items():
            assert old in text, (name, old)
            text = text.replace(old, str(new))
        file = self.machine.folder / name
        file.write_text(text)
        return file

    def _line(self, line: str) -> str:
        server = _SERVER.match(line)
        # Such as the third server of a load balancer, if there are two machines.
        if server is not None and server[1] not in self.machines:
            return ""
        # A line that names several machines is the same on all of them.
        is_own = server is None and _MONITOR not in line and len({*_ADDRESS.findall(line)}) < 2
        if is_own:
            line = line.replace(ADDRESSES[FIRST], ADDRESSES[self.name]).replace(FIRST, self.name)
        line = line.replace("10.0.0.20", self.store).replace("10.0.0.0/16", f"{SUBNET}.0/24")
        return _ADDRESS.sub(self._translate, line)

    def _translate(self, address: "re.Match[str]") -> str:
        names = {ADDRESSES[name]: machine.address for name, machine in self.machines.items()}
        return names.get(address[0], address[0])

    def etcd(self) -> Program:
        """Return etcd."""
        file = self.file("etcd.env", {"/var/lib/etcd/strongroom": self.machine.folder / "etcd"})
        lines = [line for line in file.read_text().splitlines() if not line.startswith("#")]
        return Program(
            "etcd", self.machine, ["etcd"], environment=dict(line.split("=", 1) for line in lines)
        )

    def run_script(self, name: str) -> str:
        """Run a script of the example on this machine, and return its output."""
        programs_of_redis = executable().parent
        path = f"PATH={programs_of_redis}:/usr/bin:/bin"
        return self.machine.run("env", path, "sh", "-e", self.file(name))

    def patroni(self, database: Database) -> Program:
        """Return Patroni, which starts PostgreSQL."""
        assert Path(PATRONI).exists(), "install Patroni as docs/operate/availability.md says"
        paths = {
            "/var/lib/postgresql/strongroom": database.data,
            "/usr/lib/postgresql/15/bin": programs(),
        }
        command = [PATRONI, self.file("patroni.yml", paths)]
        home = {"HOME": str(database.disk)}
        # PostgreSQL outlives Patroni.
        pid_file = database.data / "postmaster.pid"
        return Program("patroni", self.machine, command, UNPRIVILEGED, home, pid_file=pid_file)

    def pooler(self) -> Program:
        """Return pgbouncer, with the certificate that the machine's folder has."""
        folder = self.machine.folder
        users = self.file("userlist.txt")
        own = ("userlist.txt", "pooler.crt", "pooler.key")
        paths = {f"/etc/pgbouncer/{name}": folder / name for name in own}
        assert users == folder / own[0]
        command = ["pgbouncer", self.file("pgbouncer.ini", paths)]
        return Program("pgbouncer", self.machine, command, UNPRIVILEGED)

    def redis(self, primary: str = "") -> Program:
        """Return Redis.

        Args:
            primary: the machine that it follows, by its name in the examples.
        """
        folder = self.machine.folder / "redis"
        folder.mkdir()
        file = self.file("redis.conf", {"/var/lib/redis": folder})
        if primary and primary != self.name:
            with file.open("a") as config:
                config.write(f"replicaof {self.machines[primary].address} 6379\n")
        return Program("redis", self.machine, [executable(), file])

    def sentinel(self) -> Program:
        """Return a Sentinel."""
        file = self.file("sentinel.conf", {"/var/lib/redis": self.machine.folder / "redis"})
        return Program("sentinel", self.machine, [executable(), file, "--sentinel"])
