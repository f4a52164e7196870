"""Counts the calls of warm requests in this process, and their processor time.

Calls of templates and below them do not count: a page has as many as it has rows and texts.

Usage: ``python -m bench.walk [--rounds N] [--against CHECKOUT]``. With another checkout, both serve the
same requests alternately, because only ratios are stable on a shared machine.
"""

import argparse
import io
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from types import CodeType, FrameType
from typing import Any, Final

import bcrypt
from flask import Flask
from werkzeug.test import EnvironBuilder

from strongroom.identity.accounts.registration import RegistrationService

ROOT: Final = Path(__file__).resolve().parent.parent
MEMORY: Final = Path("/dev/shm")  # noqa: S108  a folder of its own is made there
"""Here the disk adds no noise; elsewhere the figures include it."""

EMAIL: Final = "walker@example.com"
PASSWORD: Final = "Correct1Horse"  # noqa: S105  of a user who lives as long as the walk
CONTENT: Final = bytes(range(256)) * 4
LARGE: Final = CONTENT * 70
PAGE: Final = 50
"""Nodes of a list."""
BATCH: Final = 20
"""Requests of a measurement."""

_CONFIG: Final = """
[server]
data_dir = "{folder}/data"
[database]
url = "sqlite:///{folder}/strongroom.db"
[plugins]
enabled = ["storage_local", "login_pages", "console"]
[storages.main]
backend = "local"
root = "{folder}/files"
[login]
methods = ["password"]
[passwords]
bcrypt_cost = 4
[limits]
login_per_address = ["1000000/second"]
"""

Request = Callable[[], EnvironBuilder]


class Walker:
    """The application with a user and a tenant, in this process."""

    def __init__(self, folder: Path) -> None:
        from strongroom.assembly.app import create_app, get_container
        from strongroom.foundation.caller import Origin
        from strongroom.foundation.config import load
        from strongroom.foundation.database.upgrade import upgrade
        from strongroom.identity.accounts.registration import Registration

        config = folder / "strongroom.toml"
        config.write_text(_CONFIG.format(folder=folder))
        self.app = create_app(load(config, {}))
        self._container = get_container(self.app)
        upgrade(self._container.database.engine)
        registration = Registration(name="Walker", password=PASSWORD, email=EMAIL)
        self._container.get(RegistrationService).create(registration, Origin())
        # Hashing takes most of a login, and would hide all other work.
        bcrypt.checkpw = lambda *_: True
        self._headers: Any = {"Authorization": f"Bearer {self._send(self.login())[1]['X-Access-Token']}"}
        tenant = self._make("/api/v1/tenants", {"name": "Walk"})
        self._files = f"/api/v1/tenants/{tenant['id']}/files"
        self._numbers = count()
        self._node = json.loads(self._send(self.raw())[2])["id"]
        self._large = json.loads(self._send(self.raw(LARGE))[2])["id"]
        for _ in range(PAGE):
            self._send(self.raw())
        self._page = f"/console{self._files.removeprefix('/api/v1')}/"
        self._cookie = self._log_in_browser()
        self.requests: dict[str, Request] = {
            "login": self.login,
            "upload raw": self.raw,
            "upload form": self.form,
            "details": self.details,
            "list": self.list,
            "download": self.download,
            "console list": self.console_list,
        }

    def close(self) -> None:
        """End the application."""
        self._container.close()

    def login(self) -> EnvironBuilder:
        """Return a login by password."""
        return EnvironBuilder(
            "/authorizations", method="POST", json={"username": EMAIL, "password": PASSWORD}
        )

    def raw(self, content: bytes = CONTENT) -> EnvironBuilder:
        """Return an upload whose body is the file."""
        disposition = f'attachment; filename="{next(self._numbers)}.bin"'
        headers: Any = {**self._headers, "Content-Disposition": disposition}
        headers["Content-Type"] = "application/octet-stream"
        return EnvironBuilder(self._files, method="POST", headers=headers, data=content)

    def form(self) -> EnvironBuilder:
        """Return an upload of a form."""
        file = (io.BytesIO(CONTENT), f"{next(self._numbers)}.bin", "application/octet-stream")
        return EnvironBuilder(self._files, method="POST", headers=self._headers, data={"file": file})

    def details(self) -> EnvironBuilder:
        """Return a look-up of a file."""
        return EnvironBuilder(f"{self._files}/{self._node}", headers=self._headers)

    def list(self) -> EnvironBuilder:
        """Return a list of a page of files."""
        return EnvironBuilder(
            f"{self._files.removesuffix('files')}owners/me/files?pageSize={PAGE}", headers=self._headers
        )

    def download(self) -> EnvironBuilder:
        """Return a download of a file of 70 KiB."""
        return EnvironBuilder(f"{self._files}/{self._large}/download", headers=self._headers)

    def console_list(self) -> EnvironBuilder:
        """Return a page of the console with a list of files."""
        headers: Any = {"Cookie": self._cookie}
        return EnvironBuilder(self._page, headers=headers)

    def _log_in_browser(self) -> str:
        """Log in by the page, and return the cookies of the browser."""
        client = self.app.test_client()
        secret = re.search('name="csrf" value="([^"]+)"', client.get("/account/login").text)
        fields = {"csrf": secret[1] if secret else "", "username": EMAIL, "password": PASSWORD}
        response = client.post("/account/login", data=fields)
        return "; ".join(value.partition(";")[0] for value in response.headers.getlist("Set-Cookie"))

    def spend(self, name: str) -> float:
        """Return the processor seconds of a request, as the least of a batch."""
        environs = [self.requests[name]().get_environ() for _ in range(BATCH)]
        spent = []
        for environ in environs:
            began = time.thread_time()
            _answer(self.app, environ)
            spent.append(time.thread_time() - began)
        return min(spent)

    def walk(self, name: str) -> dict[str, int]:
        """Return the number of calls of a warm request, of distinct functions, and of files."""
        for _ in range(BATCH):
            self._send(self.requests[name]())
        environ = self.requests[name]().get_environ()
        calls: list[CodeType] = []
        with _profiled(calls.append):
            _answer(self.app, environ)
        return {
            "calls": len(calls),
            "functions": len(set(calls)),
            "files": len({code.co_filename for code in calls}),
            "clock": sum(code.co_qualname == "SystemClock.now" for code in calls),
        }

    def _make(self, path: str, body: dict[str, str]) -> dict[str, Any]:
        request = EnvironBuilder(path, method="POST", headers=self._headers, json=body)
        made: dict[str, Any] = json.loads(self._send(request)[2])
        return made

    def _send(self, request: EnvironBuilder) -> tuple[str, dict[str, str], bytes]:
        return _answer(self.app, request.get_environ())


def _answer(app: Flask, environ: dict[str, Any]) -> tuple[str, dict[str, str], bytes]:
    head: list[Any] = []

    def start(*arguments: Any) -> Callable[[bytes], object]:
        head.extend(arguments)
        return lambda _: None

    body: Any = app(environ, start)
    try:
        content = b"".join(body)
    finally:
        getattr(body, "close", lambda: None)()
    if not head[0].startswith("2"):
        raise RuntimeError(f"{environ['PATH_INFO']}: {head[0]} {content!r}")
    return head[0], dict(head[1]), content


@contextmanager
def _profiled(tally: Callable[[CodeType], object]) -> Iterator[None]:
    templates = 0

    def note(frame: FrameType, event: str, _: object) -> None:
        nonlocal templates
        path = frame.f_code.co_filename
        if path.endswith(".html"):
            templates += {"call": 1, "return": -1}.get(event, 0)
        elif event == "call" and not templates and "/strongroom" in path:
            tally(frame.f_code)

    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)


def serve() -> None:
    """Answer the names of requests on stdin with the seconds that they take; for the other checkout."""
    with _walker() as walker:
        for line in sys.stdin:
            name, _, kind = line.strip().partition("\t")
            result = walker.walk(name) if kind == "walk" else walker.spend(name)
            print(json.dumps(result), flush=True)


@contextmanager
def _walker() -> Iterator[Walker]:
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        walker = Walker(Path(folder))
        yield walker
        walker.close()


class Checkout:
    """A process that walks with the code of a checkout."""

    def __init__(self, root: Path) -> None:
        sources = [root, root / "core" / "src", *root.glob("plugins/*/src")]
        self._process = subprocess.Popen(  # noqa: S603  this script
            # The script of the checkout, because it knows the names of its code.
            [sys.executable, "-P", str(root / "bench" / "walk.py"), "--serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, sources))},
        )

    def __enter__(self) -> "Checkout":
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def call(self, name: str, kind: str) -> Any:
        """Return what a request costs there."""
        source, sink = self._process.stdout, self._process.stdin
        print(f"{name}\t{kind}", file=sink, flush=True)
        return json.loads(source.readline() if source else "null")


NAMES: Final = ("login", "upload raw", "upload form", "details", "list", "download", "console list")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    roots = [ROOT, *([options.against.resolve()] if options.against else [])]
    with ExitStack() as stack:
        checkouts = [stack.enter_context(Checkout(root)) for root in roots]
        for name in NAMES:
            for root, checkout in zip(roots, checkouts, strict=True):
                print(f"{name} in {root}: {checkout.call(name, 'walk')}", flush=True)
            rounds = [[each.call(name, "spend") for each in checkouts] for _ in range(options.rounds)]
            _report(name, rounds)


def _report(name: str, rounds: list[list[float]]) -> None:
    print(f"{name}: {1e6 * median(ours for ours, *_ in rounds):.0f} us of processor time", end="")
    ratios = sorted(theirs[0] / ours for ours, *theirs in rounds if theirs)
    if ratios:
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        print(f"; other/this {median(ratios):.3f} ({low:.3f} to {high:.3f})", end="")
    print(flush=True)


if __name__ == "__main__":
    main()
