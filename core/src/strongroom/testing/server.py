"""A live server for the tests of plugins: the installed ``strongroom``, in processes of its own.

A fixture of a plugin's tests::

    @pytest.fixture(scope="module")
    def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
        with live_server(tmp_path_factory.mktemp("server"), plugins=["page_notes"]) as server:
            yield server

    def test_a_user_sees_the_page(server: LiveServer) -> None:
        alice = server.user()
        assert server.request("GET", "/notes", by=alice).status == 200

The server has a SQLite database, unless ``database_url`` names an empty PostgreSQL database, the storage
plugin ``storage_local``, logins by password, cheap password hashes, and limits that tests do not reach.
"""

import fcntl
import json
import os
import random
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.parse import quote, urlsplit

Table = Mapping[str, Any]
"""A table of the configuration: values and tables by key."""

PASSWORD: Final = "Correct1Horse"  # noqa: S105  of users who exist in tests only
START_SECONDS: Final = 120
STOP_SECONDS: Final = 120
REQUEST_SECONDS: Final = 120

_PORTS: Final = (20_000, 32_000)
_reserved: set[int] = set()
_OVERRIDES: Final = "STRONGROOM__"
_PAUSE_SECONDS: Final = 0.05


class ServerFailed(AssertionError):
    """The server or a command failed. The message has its output."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A response that was read to its end. Names of ``headers`` are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode(errors="replace")

    def json(self) -> Any:
        """Return the body, which is JSON."""
        return json.loads(self.body)

    @property
    def error(self) -> str | None:
        """The code of an error, such as ``error.not-found``; ``None`` for another response."""
        with suppress(ValueError, KeyError, TypeError):
            return str(self.json()["error"]["code"])
        return None


@dataclass(frozen=True, slots=True)
class LiveUser:
    """A user with an access token."""

    id: str
    email: str
    token: str = field(repr=False)


class Process(Protocol):
    """A process of a server; :class:`subprocess.Popen` is one."""

    @property
    def pid(self) -> int:
        """The process id."""

    def poll(self) -> int | None:
        """Return the exit status; ``None`` while the process runs."""

    def terminate(self) -> None:
        """Send SIGTERM."""

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit status, once the process has ended. ``timeout`` is in seconds."""


class Launcher(Protocol):
    """Starts ``strongroom`` in processes of its own."""

    def run(
        self, arguments: Sequence[str], stdin: str, environment: Mapping[str, str]
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command until it ends."""

    def start(self, arguments: Sequence[str], log: Path, environment: Mapping[str, str]) -> Process:
        """Start a command whose output goes to a file."""


class InstalledProgram:
    """Runs the command of the environment that runs the tests."""

    def run(
        self, arguments: Sequence[str], stdin: str, environment: Mapping[str, str]
    ) -> "subprocess.CompletedProcess[str]":
        """Run a command until it ends."""
        return subprocess.run(  # noqa: S603  the arguments are the test's
            [self._program, *arguments],
            input=stdin,
            env=environment,
            capture_output=True,
            text=True,
            timeout=START_SECONDS,
            check=False,
        )

    def start(self, arguments: Sequence[str], log: Path, environment: Mapping[str, str]) -> Process:
        """Start a command whose output goes to a file."""
        with log.open("wb") as file:
            return subprocess.Popen(  # noqa: S603  our own
                [self._program, *arguments], stdout=file, stderr=file, env=environment
            )

    @property
    def _program(self) -> str:
        return str(Path(sys.executable).with_name("strongroom"))


_launcher: Launcher = InstalledProgram()


@dataclass
class LiveServer:
    """A running server."""

    url: str
    folder: Path
    config: Path
    log: Path
    process_id: int = 0

    def command(self, *arguments: str, stdin: str = "") -> str:
        """Run a command of ``strongroom`` with the server's configuration, and return its output.

        Raises:
            ServerFailed: it exits with another status than 0.
        """
        command = ["--config", str(self.config), *arguments]
        result = _launcher.run(command, stdin, _inherited())
        if result.returncode:
            raise ServerFailed(f"strongroom {' '.join(arguments)}: {result.stderr}")
        return result.stdout

    def user(self, *, admin: bool = False) -> LiveUser:
        """Create a user with an e-mail address, and log in.

        Args:
            admin: whether the user administers the server.
        """
        email = f"{secrets.token_hex(8)}@example.com"
        flags = ["--email", email, "--password-stdin", "--json", *(["--admin"] if admin else [])]
        user = json.loads(self.command("users", "create", *flags, stdin=PASSWORD))
        return LiveUser(user["id"], email, self.log_in(email))

    def log_in(self, email: str) -> str:
        """Log in as a user of :meth:`user`, and return the access token."""
        body = {"username": email, "password": PASSWORD}
        token: str = self.succeed("POST", "/authorizations", json_body=body)["accessToken"]
        return token

    def tenant(self, by: LiveUser, name: str = "Acme") -> str:
        """Create a tenant, and return its id."""
        created: str = self.succeed("POST", "/api/v1/tenants", by=by, json_body={"name": name})["id"]
        return created

    def join(self, tenant_id: str, by: LiveUser, member: LiveUser, role: str = "member") -> None:
        """Add a member to a tenant."""
        path = f"/api/v1/tenants/{tenant_id}/members/{member.id}"
        self.succeed("PUT", path, by=by, json_body={"role": role})

    def folder_in(
        self, tenant_id: str, by: LiveUser, name: str, parent_id: str | None = None
    ) -> dict[str, Any]:
        """Create a folder, and return it as REST does."""
        path = f"/api/v1/tenants/{tenant_id}{_below(parent_id)}/folders"
        folder: dict[str, Any] = self.succeed("POST", path, by=by, json_body={"name": name})
        return folder

    def upload(
        self,
        tenant_id: str,
        by: LiveUser,
        name: str,
        content: bytes,
        parent_id: str | None = None,
    ) -> dict[str, Any]:
        """Upload a file, and return it as REST does."""
        reply = self.send_file(tenant_id, by, name, content, parent_id)
        if reply.status != 201:
            raise ServerFailed(f"the upload got {reply.status}: {reply.text}")
        file: dict[str, Any] = reply.json()
        return file

    def send_file(
        self,
        tenant_id: str,
        by: LiveUser,
        name: str,
        content: bytes,
        parent_id: str | None = None,
    ) -> Reply:
        """Try to upload a file."""
        path = f"/api/v1/tenants/{tenant_id}{_below(parent_id)}/files"
        disposition = f"attachment; filename*=UTF-8''{quote(name, safe='')}"
        headers = {"Content-Disposition": disposition, "Content-Type": "application/octet-stream"}
        return self.request("POST", path, by=by, headers=headers, body=content)

    def request(
        self,
        method: str,
        path: str,
        *,
        by: LiveUser | None = None,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        json_body: Any = None,
    ) -> Reply:
        """Send a request on a new connection, with the user's access token."""
        sent = dict(headers or {})
        if by is not None:
            sent["Authorization"] = f"Bearer {by.token}"
        if json_body is not None:
            sent["Content-Type"], body = "application/json", json.dumps(json_body).encode()
        with closing(HTTPConnection(urlsplit(self.url).netloc, timeout=REQUEST_SECONDS)) as connection:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            received = {name.lower(): value for name, value in response.getheaders()}
            return Reply(response.status, received, response.read())

    def succeed(
        self, method: str, path: str, *, by: LiveUser | None = None, json_body: Any = None
    ) -> Any:
        """Send a request, and return the JSON of its response.

        Raises:
            ServerFailed: the response is an error.
        """
        reply = self.request(method, path, by=by, json_body=json_body)
        if reply.status >= 300:
            raise ServerFailed(f"{method} {path} got {reply.status}: {reply.text}")
        return reply.json()

    def messages(self) -> list[dict[str, str]]:
        """Return the e-mails and SMS that the server has sent, as the sender ``console`` records."""
        outbox = self.folder / "data" / "outbox.jsonl"
        return [json.loads(line) for line in outbox.read_text().splitlines()]

    def wait_until_answering(self, process: "Process") -> None:
        """Return once the server responds.

        Raises:
            ServerFailed: it has ended, or does not respond in time.
        """
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if process.poll() is not None:
                raise ServerFailed(f"the server did not start: {self.log.read_text()}")
            with suppress(OSError):
                if self.request("GET", "/livez").status == 200:
                    return
            time.sleep(_PAUSE_SECONDS)
        raise ServerFailed(f"the server does not respond: {self.log.read_text()}")


@contextmanager
def live_server(
    folder: Path,
    *,
    plugins: Sequence[str] = (),
    config: Table | None = None,
    files: Sequence[Path] = (),
    database_url: str | None = None,
    environment: Mapping[str, str] | None = None,
    port: int | None = None,
) -> Iterator[LiveServer]:
    """Run a server until the block ends.

    Args:
        folder: an empty folder for its data; it is created if it does not exist.
        plugins: the plugins to enable in addition to ``storage_local``; they must be installed.
        config: changes to the configuration, by section.
        files: the modules of one-file plugins, which are linked into the folder of such plugins.
        database_url: the URL of an empty database; by default, a SQLite file in ``folder``.
        environment: additional environment variables.
        port: a fixed port, for programs that are configured with it; by default, a free one.

    Raises:
        ServerFailed: the server does not start; the message has its output.
    """
    folder.mkdir(parents=True, exist_ok=True)
    chosen, path = port or free_port(), folder / "strongroom.toml"
    tables = [_base(folder, chosen, database_url, plugins)]
    if files:
        tables.append({"plugins": {"folder": str(_linked(folder, files))}})
    path.write_text(to_toml(_merged(*tables, config or {})))
    server = LiveServer(f"http://127.0.0.1:{chosen}", folder, path, folder / "server.log")
    variables = {**_inherited(), **(environment or {})}
    process = _launcher.start(["serve", "--config", str(path)], server.log, variables)
    server.process_id = process.pid
    try:
        server.wait_until_answering(process)
        yield server
    finally:
        process.terminate()
        process.wait(timeout=STOP_SECONDS)


def free_port() -> int:
    """Return a free port, below the range from which the system assigns ports to connections.

    As long as this process runs, neither it nor another process of this user gets the port again, so a
    server that starts slowly or is stopped for a while keeps it.
    """
    while True:
        port = random.SystemRandom().randrange(*_PORTS)
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            if _reserve(port):
                return port


def _reserve(port: int) -> bool:
    """Reserve a port, and return whether it was not reserved."""
    if port in _reserved:
        # A process can lock again what it has locked.
        return False
    with suppress(BlockingIOError):
        # The system releases the lock, on the byte at the position of the port, when the process ends.
        fcntl.lockf(_reservations(), fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
        _reserved.add(port)
        return True
    return False


@cache
def _reservations() -> int:
    """Open the file whose locks are reservations. It stays open, because to close it releases them."""
    path = Path(tempfile.gettempdir(), f"strongroom-ports-{os.getuid()}")
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)


def to_toml(table: Table, *parents: str) -> str:
    """Return a table as TOML, values before tables."""
    values = {key: value for key, value in table.items() if not isinstance(value, Mapping)}
    lines = [f"{key} = {_spelled(value)}\n" for key, value in values.items()]
    header = f"[{'.'.join(parents)}]\n" if parents and (values or not table) else ""
    tables = [to_toml(value, *parents, key) for key, value in table.items() if key not in values]
    return "".join([header, *lines, *tables])


def _spelled(value: object) -> str:
    """Return a value as TOML; a table as an inline one."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key} = {_spelled(item)}' for key, item in value.items())}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_spelled, value))}]"
    # Strings, numbers and booleans look alike in JSON and TOML.
    return json.dumps(value, ensure_ascii=False)


def _base(folder: Path, port: int, database_url: str | None, plugins: Sequence[str]) -> Table:
    # The default is localhost, which a test that sends requests to the address does not expect in links.
    own = {"port": port, "public_url": f"http://127.0.0.1:{port}"}
    return {
        "server": {**own, "data_dir": str(folder / "data"), "workers": 1},
        "database": {"url": database_url or f"sqlite:///{folder / 'strongroom.sqlite3'}"},
        "plugins": {"enabled": ["storage_local", *plugins]},
        "storages": {"main": {"backend": "local", "root": str(folder / "files")}},
        "login": {"methods": ["password"]},
        "passwords": {"bcrypt_cost": 4},
        "limits": {"login_failures_before_captcha": 1000},
    }


def _inherited() -> dict[str, str]:
    """Return the environment without values of a configuration.

    They would take precedence over the server's file: another port, or a database with real data.
    """
    return {key: value for key, value in os.environ.items() if not key.startswith(_OVERRIDES)}


def _linked(folder: Path, files: Sequence[Path]) -> Path:
    plugins = folder / "plugins.d"
    plugins.mkdir()
    for file in files:
        (plugins / file.name).symlink_to(file.resolve())
    return plugins


def _merged(*tables: Table) -> dict[str, Any]:
    """Merge tables recursively; the last value wins."""
    result: dict[str, Any] = {}
    for table in tables:
        for key, value in table.items():
            is_table = isinstance(value, Mapping)
            result[key] = _merged(result.get(key, {}), value) if is_table else value
    return result


def _below(parent_id: str | None) -> str:
    return f"/files/{parent_id}" if parent_id else ""


def use_launcher(launcher: Launcher) -> None:
    """Start servers and commands another way from now on."""
    global _launcher  # noqa: PLW0603  one for all servers of a run
    _launcher = launcher
