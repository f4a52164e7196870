"""Servers that are measured: Strongroom, and a bare Flask route served the same way."""

import http.client
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from bench.usage import processes
from strongroom.testing.server import free_port

HOST: Final = "127.0.0.1"
START_SECONDS: Final = 120
STOP_SECONDS: Final = 5
ROOT: Final = Path(__file__).parents[1]
STRONGROOM: Final = str(Path(sys.executable).with_name("strongroom"))
BCRYPT_COST: Final = 10
WORKERS: Final = 2
PLUGINS: Final = ("storage_local", "login_sms")

CONFIG: Final = """
[server]
host = "{host}"
port = {port}
workers = {workers}
data_dir = "{folder}/data"
[plugins]
enabled = {plugins}
[storages.main]
backend = "local"
root = "{folder}/files"
downloads = "{downloads}"
[login]
methods = ["password"]
[passwords]
bcrypt_cost = {bcrypt_cost}
[limits]
login_failures_before_captcha = 1000
login_per_address = ["1000000/second"]
"""


@dataclass(frozen=True, slots=True)
class Server:
    """A server that runs.

    Args:
        port: where it listens, on this machine only.
        pid: the process that has started all its others.
        config: its configuration.
        program: the command ``strongroom`` of its installation.
        variables: more environment variables.
    """

    port: int
    pid: int
    config: Path
    program: str = STRONGROOM
    variables: Mapping[str, str] | None = None

    def create_user(self, email: str, password: str, *options: str) -> None:
        """Make a user from the command line."""
        arguments = ("users", "create", "--email", email, "--password-stdin", "--json", *options)
        subprocess.run(  # noqa: S603  a command of our own
            [self.program, "--config", str(self.config), *arguments],
            input=password,
            env=_environment(self.variables),
            text=True,
            stdout=subprocess.DEVNULL,
            timeout=START_SECONDS,
            check=True,
        )


@contextmanager
def strongroom(
    folder: Path,
    extra: str = "",
    *,
    downloads: str = "server",
    plugins: Sequence[str] = PLUGINS,
    workers: int = WORKERS,
    program: str = STRONGROOM,
    variables: Mapping[str, str] | None = None,
    node: str = "strongroom",
) -> Iterator[Server]:
    """Run Strongroom, with all its data in a folder, until the block ends.

    Args:
        folder: an empty folder, or the one of other nodes.
        extra: more of the configuration, in TOML.
        downloads: the component that sends files.
        plugins: which are enabled.
        workers: how many processes serve.
        program: the command ``strongroom`` of the installation to run.
        variables: more environment variables.
        node: the name of its configuration, unique in the folder.
    """
    port = free_port()
    values = {"downloads": downloads, "plugins": json.dumps(plugins), "workers": workers}
    config = _write_config(folder / f"{node}.toml", port, **values)
    config.write_text(config.read_text() + extra)
    command = [program, "serve", "--config", str(config)]
    with running(command, port, config, variables) as server:
        yield replace(server, program=program, variables=variables)


@contextmanager
def bare_flask(folder: Path) -> Iterator[Server]:
    """Run a bare Flask route, on the same server with as many processes and threads."""
    port = free_port()
    values = {"downloads": "server", "plugins": '["storage_local"]', "workers": WORKERS}
    config = _write_config(folder / "bare_flask.toml", port, **values)
    command = [sys.executable, "-m", "bench.bare_flask", str(config)]
    with running(command, port, config) as server:
        yield server


def _write_config(path: Path, port: int, **values: object) -> Path:
    alike = {"host": HOST, "port": port, "folder": path.parent, "bcrypt_cost": BCRYPT_COST}
    path.write_text(CONFIG.format(**alike, **values))
    return path


@contextmanager
def running(
    command: Sequence[str], port: int, config: Path, variables: Mapping[str, str] | None = None
) -> Iterator[Server]:
    """Run the server that listens on a port until the block ends; its log is next to the configuration.

    Raises:
        RuntimeError: it does not respond.
    """
    log = config.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603
            command, cwd=ROOT, env=_environment(variables), stdout=output, stderr=output
        )
    try:
        _wait_until_answering(process, port, log)
        yield Server(port, process.pid, config)
    finally:
        _stop(process)


def _environment(variables: Mapping[str, str] | None) -> dict[str, str]:
    # An installed server has bytecode of its modules.
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**ours, **(variables or {})}


def _wait_until_answering(process: "subprocess.Popen[bytes]", port: int, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(ConnectionError):
            return _ask(port)
        time.sleep(0.02)
    raise RuntimeError(f"the server does not respond: {log.read_text()}")


def _ask(port: int) -> None:
    connection = http.client.HTTPConnection(HOST, port, timeout=START_SECONDS)
    try:
        connection.request("GET", "/")
        connection.getresponse().read()
    finally:
        connection.close()


def _stop(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is not None:
        return
    started = processes(process.pid)
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        for pid in started:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        process.wait()
