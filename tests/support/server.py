"""A real server for tests: the command that a deployer runs, in processes of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from strongroom.testing.server import free_port
from tests.support.commands import CommandProcess, run_command
from tests.support.config import Table, base_config, merged, read_toml, write_toml
from tests.support.waiting import wait_until

STRONGROOM = Path(sys.executable).with_name("strongroom")
START_SECONDS = 120
STOP_SECONDS = 120

EMAIL = "alice@example.com"
"""The user of servers that the fixtures start."""

LAST_LINES = 40

OUTPUTS: list[Path] = []
"""Where the output of the servers goes that run now."""

NODE: Table = {"server": {"workers": 1, "public_url": "https://files.example.com"}}
"""A node with one process, whose tokens are valid on all nodes."""


Process: TypeAlias = "subprocess.Popen[bytes] | CommandProcess"


@dataclass
class Server:
    """A server that runs."""

    url: str
    config: Path
    process: Process

    def command(self, *arguments: str, stdin: str = "") -> str:
        """Run another command of ``strongroom`` on the same configuration."""
        result = run_command("--config", str(self.config), *arguments, stdin=stdin)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def create_user(self, email: str, password: str = "Correct1Horse", *flags: str) -> dict[str, Any]:
        """Make a user from the command line."""
        output = self.command(
            "users", "create", "--email", email, "--password-stdin", "--json", *flags, stdin=password
        )
        user: dict[str, Any] = json.loads(output)
        return user

    @property
    def log(self) -> Path:
        """Where its output goes, unless the test names another file."""
        return self.config.with_suffix(".log")

    def workers(self) -> list[int]:
        """Return the ids of the processes that serve."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in children.read_text().split()]

    def reload(self) -> None:
        """Reload the configuration; return once all workers are replaced.

        The process of the management interface stays.
        """
        # Read before the signal: the first new worker may be there as soon as it is sent.
        before = set(self.workers())
        staying = 1 if "management" in read_toml(self.config) else 0
        self.process.send_signal(signal.SIGHUP)

        def are_replaced() -> bool:
            now = set(self.workers())
            return len(before & now) == staying and len(now) == len(before)

        wait_until(are_replaced, seen=lambda: (before, self.workers()))

    def kill(self) -> None:
        """Kill all of the server's processes together, like a power failure."""
        pids = (self.process.pid, *self.workers())
        for pid in pids:
            # A worker that notices the end of its parent ends as well.
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait(timeout=STOP_SECONDS)
        # One that still waits for the disk keeps its socket, and would get connections of the next one.
        wait_until(lambda: all(map(has_ended, pids)))


def write_config(folder: Path, database_url: str, *changes: Table) -> Path:
    """Write the configuration of a server on a free port."""
    limits: Table = {"limits": {"login_failures_before_captcha": 1000}}
    base = base_config(folder, database_url)
    # A test may choose the port, for example because a simulator must know the server's URL.
    port = merged(*changes).get("server", {}).get("port") or free_port()
    return write_toml(folder / "strongroom.toml", base, _own_address(port), limits, *changes)


def _own_address(port: int) -> Table:
    """Return the configuration of a server whose URLs lead to :attr:`Server.url`."""
    return {"server": {"port": port, "public_url": f"http://127.0.0.1:{port}"}}


def copy_config(config: Path, name: str) -> Path:
    """Write the configuration of another node: the same, except for the port."""
    tables, address = read_toml(config), _own_address(free_port())
    if tables["server"].get("public_url") != f"http://127.0.0.1:{tables['server']['port']}":
        del address["server"]["public_url"]
    return write_toml(config.with_name(name), tables, address)


@contextmanager
def serving_nodes(folder: Path, database_url: str, *changes: Table) -> Iterator[tuple[Server, Server]]:
    """Run two servers with the same database, keys and files."""
    first = write_config(folder, database_url, NODE, *changes)
    with serving(first) as one, serving(copy_config(first, "second.toml")) as other:
        yield one, other


@contextmanager
def serving(
    config: Path, output: Path | None = None, *, program: Path | None = None
) -> Iterator[Server]:
    """Run a server until the block ends.

    Args:
        config: its configuration file.
        output: the file of its output; by default next to ``config``.
        program: the installed command, which imports everything again; by default, the process is forked
            from one that has imported the core.
    """
    output = output or config.with_suffix(".log")
    process = _start(config, output, program)
    server = Server(f"http://127.0.0.1:{read_toml(config)['server']['port']}", config, process)
    OUTPUTS.append(output)
    try:
        wait_until_answering(server, output)
        yield server
    except Exception:
        sys.stderr.write(last_lines(output))
        raise
    finally:
        OUTPUTS.remove(output)
        process.terminate()
        process.wait(timeout=STOP_SECONDS)


def _start(config: Path, output: Path, program: Path | None) -> Process:
    command = ["serve", "--config", str(config)]
    if program is None:
        streams = {"stdin": Path(os.devnull), "stdout": output, "stderr": output}
        return CommandProcess(command, streams)
    with output.open("ab") as file:
        return subprocess.Popen([program, *command], stdout=file, stderr=file)


def wait_until_answering(server: Server, output: Path) -> None:
    """Return once the server answers."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            raise AssertionError(f"the server ended: {output.read_text()}")
        # Also a time limit, which is no URLError.
        with suppress(OSError), urllib.request.urlopen(f"{server.url}/livez", timeout=5):
            return
        time.sleep(0.02)
    raise AssertionError(f"the server does not answer: {output.read_text()}")


def last_lines(output: Path) -> str:
    """Return the end of a server's output, for the report of a failed test."""
    lines = output.read_text(errors="replace").splitlines() if output.exists() else []
    return "\n".join([f"The end of {output}:", *lines[-LAST_LINES:], ""])


def has_ended(pid: int) -> bool:
    """Return whether a process has ended, although its parent may not know yet."""
    try:
        # The state follows the name in parentheses, which may contain any character.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


def is_listening(port: int) -> bool:
    """Return whether a process accepts connections on a port."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False
