"""Machines in network namespaces of this one, and the programs that run on them."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.support.waiting import wait_until

SUBNET: Final = "10.99.0"
BRIDGE: Final = f"{SUBNET}.254"
"""The address of this process, from which the clients connect."""
UNPRIVILEGED: Final = 65534
"""PostgreSQL refuses to run as root. This user exists everywhere."""

_KEEPER: Final = ("unshare", "-n", "sh", "-c", "echo; exec sleep infinity")
_STOP_SECONDS: Final = 60
# Frames to it leave the machine and reach none: neither end of a connection notices.
_NOWHERE: Final = "02:00:00:00:00:99"
_SLOW: Final = ("tbf", "rate", "512kbit", "burst", "4kb", "latency", "3000ms")


@dataclass
class Machine:
    """A machine with an address of its own."""

    name: str
    number: int
    folder: Path
    _keeper: "subprocess.Popen[bytes]"

    @property
    def address(self) -> str:
        """The address, which all others reach."""
        return f"{SUBNET}.{self.number}"

    def command(self, *command: object, user: int | None = None) -> list[str]:
        """Return a command that runs on this machine."""
        entered = ["nsenter", f"--net=/proc/{self._keeper.pid}/ns/net"]
        if user is not None:
            entered += ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups"]
        return [*entered, *map(str, command)]

    def run(self, *command: object, user: int | None = None) -> str:
        """Run a command to its end and return its output."""
        done = subprocess.run(
            self.command(*command, user=user), capture_output=True, text=True, cwd="/", check=False
        )
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def remove(self) -> None:
        """End the network namespace, and its end of the cable with it."""
        self._keeper.kill()
        self._keeper.communicate()

    def slow_down(self) -> None:
        """Let packets leave at the rate of a modem."""
        self.run("tc", "qdisc", "add", "dev", "eth0", "root", *_SLOW)

    def speed_up(self) -> None:
        """Undo :meth:`slow_down`."""
        self.run("tc", "qdisc", "del", "dev", "eth0", "root")

    def lose(self, other: str) -> None:
        """Lose all packets to an address from now on."""
        self.run(
            *("ip", "neigh", "replace", other, "lladdr", _NOWHERE),
            *("dev", "eth0", "nud", "permanent"),
        )

    def find(self, other: str) -> None:
        """Undo :meth:`lose`."""
        self.run("ip", "neigh", "del", other, "dev", "eth0")


@dataclass
class Network:
    """Machines that reach each other, in the network namespace of this process."""

    folder: Path
    machines: dict[str, Machine] = field(default_factory=dict)

    def create(self) -> None:
        """Create the bridge."""
        _ip("link", "set", "lo", "up")
        _ip("link", "add", "br0", "type", "bridge")
        _ip("addr", "add", f"{BRIDGE}/24", "dev", "br0")
        _ip("link", "set", "br0", "up")

    def remove(self) -> None:
        """Remove the machines, and then the bridge."""
        for machine in self.machines.values():
            machine.remove()
        _ip("link", "del", "br0")

    def add(self, name: str) -> Machine:
        """Add a machine."""
        number = len(self.machines) + 1
        folder = self.folder / name
        folder.mkdir()
        folder.chmod(0o755)
        keeper = subprocess.Popen(_KEEPER, stdout=subprocess.PIPE)
        assert keeper.stdout is not None
        keeper.stdout.readline()
        machine = self.machines[name] = Machine(name, number, folder, keeper)
        peer = ("type", "veth", "peer", "name", "eth0", "netns", str(keeper.pid))
        _ip("link", "add", f"veth{number}", *peer)
        _ip("link", "set", f"veth{number}", "master", "br0", "up")
        machine.run("ip", "link", "set", "lo", "up")
        machine.run("ip", "addr", "add", f"{machine.address}/24", "dev", "eth0")
        machine.run("ip", "link", "set", "eth0", "up")
        return machine

    def part(self, first: str, second: str) -> None:
        """Lose all packets between two machines."""
        one, other = self.machines[first], self.machines[second]
        one.lose(other.address)
        other.lose(one.address)

    def join(self, first: str, second: str) -> None:
        """Undo :meth:`part`."""
        one, other = self.machines[first], self.machines[second]
        one.find(other.address)
        other.find(one.address)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@dataclass
class Program:
    """A program of a machine, which may be killed, frozen and started again."""

    name: str
    machine: Machine
    command: Sequence[object]
    user: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    process: "subprocess.Popen[bytes] | None" = None
    pid_file: Path | None = None
    """Names a process that is no descendant, in its first line."""

    @property
    def log(self) -> Path:
        """Where its output goes."""
        return self.machine.folder / f"{self.name}.log"

    def start(self, **environment: str) -> None:
        """Start it."""
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.machine.command(*self.command, user=self.user),
                cwd="/",
                env={**os.environ, **self.environment, **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def processes(self) -> list[int]:
        """Return the ids of the program and its descendants, parents first."""
        assert self.process is not None
        found = [self.process.pid]
        if self.pid_file is not None and self.pid_file.exists():
            found.append(int(self.pid_file.read_text().splitlines()[0]))
        for pid in found:
            with suppress(OSError):
                text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
                found += map(int, text.split())
        return found

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all of its processes."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, number)

    def kill(self) -> None:
        """End all of its processes at once, as a loss of power does."""
        if self.process is not None and self.process.poll() is None:
            self.signal(signal.SIGSTOP)
            processes = self.processes()
            self.signal(signal.SIGKILL)
            self.process.wait(_STOP_SECONDS)
            wait_until(lambda: not any(Path("/proc", str(pid)).exists() for pid in processes))

    def restart(self, **environment: str) -> None:
        """Kill it if it runs, and start it."""
        self.kill()
        self.start(**environment)
