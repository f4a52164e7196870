"""Large bodies to every route cost a worker little: memory, processor time and the temporary folder.

Routes come from the maps of the served application and of its mounts, so a new one needs no row here.
Each gets ``STRONGROOM_TEST_LARGE_BODIES`` of the 32 cells of size, media type, login and framing; 32 are
all of them.
"""

import logging
import re
import select
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product, starmap
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import pytest
from werkzeug.routing import Map

from strongroom.assembly.app import create_app
from strongroom.foundation.config import load
from strongroom.testing.browser import Browser
from strongroom.testing.server import LiveServer, LiveUser, live_server
from tests.support.campaign import campaign_size
from tests.support.config import lifted
from tests.support.mounted_pages import pages_of

logger = logging.getLogger(__name__)

pytestmark = pytest.mark.extended

MIB: Final = 1024**2
MOST_MEMORY: Final = 16 * MIB
MOST_SECONDS: Final = 0.05
MOST_WRITTEN: Final = MIB // 2
"""Bytes that a request may write anywhere, such as to the log and the database."""

ATTEMPTS: Final = 12
"""A cell counts with its least cost, because other threads of the worker cost something, too."""

PATIENCE_SECONDS: Final = 1.0
"""How long a client waits for a server that neither reads nor answers."""

PIECE: Final = 64 * 1024


class Cell(NamedTuple):
    """A body, and who sends it in which framing."""

    size: int
    media_type: str
    is_user: bool
    chunked: bool


CELLS: Final = list(
    starmap(
        Cell,
        product(
            (MIB, 64 * MIB),
            (
                "application/x-www-form-urlencoded",
                "multipart/form-data; boundary=x",
                "application/json",
                "text/plain",
            ),
            (False, True),
            (False, True),
        ),
    )
)

UPLOADS: Final = frozenset(
    {
        "/api/v1/files",
        "/api/v1/files/<file_name>",
        "/api/v1/tenants/<tenant_id>/files",
        "/api/v1/tenants/<tenant_id>/files/<file_id>",
        "/api/v1/tenants/<tenant_id>/files/<file_id>/content",
        "/api/v1/tenants/<tenant_id>/files/<parent_id>/files",
        "/api/v1/tenants/<tenant_id>/uploads",
        "/api/v1/tenants/<tenant_id>/uploads/<upload_id>",
        "/api/v1/shares/<secret>/files",
        "/s/<secret>/drop",
        "/user-imports",
        "/console/tenants/<tenant_id>/upload",
        "/console/tenants/<tenant_id>/uploads",
        "/console/tenants/<tenant_id>/uploads/<upload_id>",
        "/console/server/imports/",
        "/notes/uploads",
    }
)
"""The routes that take files, as streams: they may use more time, and write what they store."""

PLUGIN: Final = '''
"""An application that reads whatever arrives, as a tutorial would."""

from flask import Flask, request
from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.web import LargeBody, MountedApplication

API_VERSION = "2.0"


@hookimpl
def register_wsgi_applications(host):
    app = Flask("notes")

    @app.route("/form", methods=["GET", "POST", "PUT"])
    def read_form():
        return f"{len(request.form)} {len(request.files)}"

    @app.post("/data")
    def read_data():
        return str(len(request.get_data()))

    @app.put("/uploads")
    def read_upload():
        while request.stream.read(65536):
            pass
        return "done"

    return [MountedApplication("/notes", app.wsgi_app, [LargeBody("PUT", "/uploads")])]
'''
PLUGINS: Final = ("factor_totp", "login_pages", "share_links", "webhooks", "console")


@dataclass(frozen=True)
class Route:
    """A method and a path with its parameters."""

    method: str
    pattern: str


@dataclass
class Cost:
    """What a request has cost the worker."""

    status: int
    seconds: float
    memory: int
    written: int

    @property
    def is_small(self) -> bool:
        sizes = self.memory <= MOST_MEMORY and self.written <= MOST_WRITTEN
        return sizes and self.seconds <= MOST_SECONDS


def test_a_large_body_costs_little(tmp_path: Path) -> None:
    plugin, spool = tmp_path / "notes.py", tmp_path / "spool"
    plugin.write_text(PLUGIN)
    spool.mkdir()
    folder = tmp_path / "server"
    folder.mkdir()
    # A limit would answer before a body is read, and end a campaign that logs in for each cell.
    with live_server(
        folder, plugins=PLUGINS, config=lifted(), files=[plugin], environment={"TMPDIR": str(spool)}
    ) as server:
        routes = list(routes_of(server))
        assert len(routes) > 400
        attack = Attack(server, spool)
        for number, route in enumerate(routes):
            for cell in range(campaign_size("LARGE_BODIES", 1)):
                attack.send(route, CELLS[(7 * number + cell) % len(CELLS)])
        attack.repeat()
    logger.info("%d routes, %s", len(routes), attack.report())
    assert not attack.faults, "\n".join(attack.faults)


def routes_of(server: LiveServer) -> Iterator[Route]:
    """Yield the routes of the server and of the applications that are mounted in it."""
    app: Any = create_app(load(server.config, {}))
    maps: list[tuple[str, Map]] = [("", app.url_map)]
    for mount in app.mounts:
        application = pages_of(mount.application)
        members = getattr(application, "__slots__", ()) or vars(application)
        own = [value for name in members if isinstance(value := getattr(application, name), Map)]
        # A mount without a map decides about paths itself.
        maps += [(mount.prefix, url_map) for url_map in own]
    for prefix, url_map in maps:
        for rule in url_map.iter_rules():
            methods = (rule.methods or set()) - {"HEAD", "OPTIONS"}
            yield from (Route(method, prefix + rule.rule) for method in sorted(methods))


class Attack:
    """Sends large bodies, and measures the one worker of a server.

    Args:
        spool: the temporary folder of the server.
    """

    def __init__(self, server: LiveServer, spool: Path) -> None:
        self._server, self._spool = server, spool
        self._port = urlsplit(server.url).port
        self._worker = worker_of(server)
        self._admin = server.user(admin=True)
        self._victim = server.user()
        self._tenant = server.tenant(self._admin)
        self._headers: dict[str, str] = {}
        self.faults: list[str] = []
        self._costs: list[Cost] = []
        self._slow: list[tuple[Route, Cell]] = []

    def send(self, route: Route, cell: Cell) -> None:
        """Send a body, and note what costs too much, but the processor time: see :meth:`repeat`."""
        cost = self._cost(route, cell)
        if cost.seconds > MOST_SECONDS and route.pattern not in UPLOADS:
            self._slow.append((route, cell))
        else:
            self._note(route, cell, cost)

    def repeat(self) -> None:
        """Send the slow bodies again at the end: the machine may have been busy for a while."""
        for route, cell in self._slow:
            self._note(route, cell, self._cost(route, cell))

    def _cost(self, route: Route, cell: Cell) -> Cost:
        size, media_type, is_user, chunked = cell
        headers = {"Content-Type": media_type, **(self._login() if is_user else {})}
        cost = self._least(route.method, self._path(route.pattern), headers, size, chunked=chunked)
        if cost.status in (0, 401):
            # A route has ended the login.
            self._headers = {}
        return cost

    def _note(self, route: Route, cell: Cell, cost: Cost) -> None:
        place = f"{route.method} {route.pattern} {cell}"
        if route.pattern not in UPLOADS:
            self._costs.append(cost)
            if not cost.is_small:
                self.faults.append(f"{place}: {cost}")
        elif cost.memory > MOST_MEMORY:
            self.faults.append(f"{place}: {cost}")
        if left := [*self._spool.iterdir()]:
            self.faults.append(f"{place}: {left} in the temporary folder")

    def report(self) -> str:
        """Return the number of cells and the largest costs."""
        memory = max(cost.memory for cost in self._costs) / MIB
        seconds = max(cost.seconds for cost in self._costs) * 1000
        written = max(cost.written for cost in self._costs)
        return (
            f"{len(self._costs)} cells: at most {memory:.1f} MiB, {seconds:.1f} ms, {written} B written"
        )

    def _login(self) -> dict[str, str]:
        if not self._headers:
            token = self._server.log_in(self._admin.email)
            admin = LiveUser(self._admin.id, self._admin.email, token)
            browser = Browser(self._server)
            browser.log_in(admin)
            browser.open("/console/")
            csrf = next(form["csrf"] for form in browser.forms.values() if "csrf" in form)
            cookies = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
            self._headers = {"Authorization": f"Bearer {token}", "Cookie": cookies, "X-CSRF": csrf}
        return self._headers

    def _path(self, pattern: str) -> str:
        values = {"tenant_id": self._tenant, "user_id": self._victim.id}
        unknown = "01a21fc2-a3b2-734c-9960-ca0408b1e9bb"

        def value(match: re.Match[str]) -> str:
            converter, _, name = match[1].rpartition(":")
            choice = re.match(r"any\('([^']+)'", converter)
            return choice[1] if choice else values.get(name, unknown)

        return re.sub(r"<([^>]*)>", value, pattern)

    def _least(
        self, method: str, path: str, headers: dict[str, str], size: int, *, chunked: bool
    ) -> Cost:
        """Return the least cost of a body, beyond the cost of the same request without one."""
        costs = []
        for _ in range(ATTEMPTS):
            cost = self._measured(method, path, headers, size, chunked=chunked)
            if not cost.is_small:
                # The response may cost something, too, such as a large document.
                empty = self._measured(method, path, headers, 0, chunked=False)
                cost.seconds -= empty.seconds
                cost.written -= empty.written
            costs.append(cost)
            if cost.is_small:
                break
        return min(costs, key=lambda item: (not item.is_small, item.seconds))

    def _measured(
        self, method: str, path: str, headers: dict[str, str], size: int, *, chunked: bool
    ) -> Cost:
        pid = self._worker
        Path(f"/proc/{pid}/clear_refs").write_text("5")
        before, began, written = memory_of(pid, "VmRSS"), processor_seconds(pid), written_by(pid)
        status = post(self._port or 0, method, path, headers, size, chunked=chunked)
        peak = memory_of(pid, "VmHWM")
        return Cost(status, processor_seconds(pid) - began, peak - before, written_by(pid) - written)


def post(port: int, method: str, path: str, headers: dict[str, str], size: int, *, chunked: bool) -> int:
    """Send a body to its end, whatever is answered meanwhile; return the status, or 0 without one."""
    lines = {"Host": "x", "Connection": "close", "Accept": "*/*", **headers}
    lines |= {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(size)}
    head = f"{method} {path} HTTP/1.1\r\n" + "".join(f"{k}: {v}\r\n" for k, v in lines.items())
    piece = b"a=1&" * (PIECE // 4)
    framed = b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(f"{head}\r\n".encode())
        with suppress(OSError):
            if "multipart" in headers["Content-Type"] and not chunked:
                start = b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n'
                connection.sendall(start + piece[len(start) :])
                size -= PIECE
            for _ in range(size // PIECE):
                connection.sendall(framed)
                if select.select([connection], [], [], 0)[0]:
                    answer += connection.recv(PIECE)
                    # The server stops reading a refused body, and an answer that waits ends with this.
                    connection.settimeout(PATIENCE_SECONDS)
            connection.sendall(b"0\r\n\r\n" if chunked else b"")
            while data := connection.recv(PIECE):
                answer += data
    return int(answer[9:12]) if answer else 0


def worker_of(server: LiveServer) -> int:
    """Return the id of the process that serves."""
    pid = server.process_id
    (worker,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(worker)


def processor_seconds(pid: int) -> float:
    """Return the processor time of a process (clock_getcpuclockid of POSIX, as Linux numbers it)."""
    return time.clock_gettime((~pid << 3) | 2)


def memory_of(pid: int, name: str) -> int:
    """Return a size of a process in bytes, such as its peak."""
    match = re.search(rf"^{name}:\s*(\d+) kB", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    assert match is not None
    return int(match[1]) * 1024


def written_by(pid: int) -> int:
    """Return how many bytes a process has written to files, those without a name included."""
    match = re.search(r"^wchar: (\d+)", Path(f"/proc/{pid}/io").read_text(), re.MULTILINE)
    assert match is not None
    return int(match[1])
