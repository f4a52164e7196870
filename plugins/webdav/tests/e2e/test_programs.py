"""Real programs, broken bodies and races, on a server with four processes."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest
from tests.support.campaign import campaign_size
from tests.support.webdav import basic, locked_body, make_live_key

from strongroom.testing.server import LiveServer, LiveUser, Reply, live_server

FILES: Final = campaign_size("WEBDAV_FILES", 500)
WRITERS: Final = 16
SECONDS: Final = 1200


@dataclass
class Mount:
    """A space on a live server, and a key for it."""

    server: LiveServer
    user: LiveUser
    key: str

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Reply:
        """Send a request. Names of headers have underscores in place of hyphens."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        sent["Authorization"] = basic(self.key)
        return self.server.request(method, f"/dav/Drive/{path}", headers=sent, body=body)

    def run(self, *command: str, stdin: str = "") -> str:
        """Run a program, and return its output."""
        result = subprocess.run(
            command,
            input=stdin,
            env={**os.environ, "HOME": str(self.server.folder)},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout + result.stderr


@pytest.fixture(scope="module")
def mount(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mount]:
    config = {"server": {"workers": 4}}
    with live_server(tmp_path_factory.mktemp("mount"), plugins=["webdav"], config=config) as server:
        user = server.user()
        server.tenant(user, "Drive")
        yield Mount(server, user, make_live_key(server, user))


@pytest.mark.skipif(shutil.which("cadaver") is None, reason="needs cadaver")
def test_cadaver_uses_a_drive(mount: Mount, tmp_path: Path) -> None:
    host = urlsplit(mount.server.url).hostname
    (mount.server.folder / ".netrc").write_text(f"machine {host} login any password {mount.key}\n")
    (mount.server.folder / ".netrc").chmod(0o600)
    (tmp_path / "up.txt").write_text("content")
    commands = [
        "mkcol cadaver",
        "cd cadaver",
        f"put {tmp_path / 'up.txt'} a.txt",
        "lock a.txt",
        "copy a.txt b.txt",
        "unlock a.txt",
        "move b.txt c.txt",
        f"get c.txt {tmp_path / 'down.txt'}",
        "ls",
        "quit",
    ]
    output = mount.run(
        "cadaver", f"{mount.server.url}/dav/Drive/", stdin="".join(f"{line}\n" for line in commands)
    )
    assert "failed" not in output.lower(), output
    assert (tmp_path / "down.txt").read_text() == "content"
    assert "c.txt" in output


@pytest.mark.extended
@pytest.mark.skipif(shutil.which("rclone") is None, reason="needs rclone")
def test_rclone_synchronizes_a_folder(mount: Mount, tmp_path: Path) -> None:
    for number in range(FILES):
        folder = tmp_path / f"folder {number % 10}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number} é.bin").write_bytes(os.urandom(1024))
    remote = f":webdav,url='{mount.server.url}/dav/Drive/',vendor=owncloud,user=any:rclone"
    secret = mount.run("rclone", "obscure", mount.key).strip()
    flags = ["--webdav-pass", secret, "--transfers", "8", "--config", "/dev/null"]
    mount.run("rclone", "sync", str(tmp_path), remote, *flags)
    mount.run("rclone", "check", "--download", str(tmp_path), remote, *flags)
    # The times are the same, so a second run transfers nothing.
    output = mount.run("rclone", "sync", "-v", "--stats-one-line", str(tmp_path), remote, *flags)
    assert "Copied" not in output, output[-2000:]


def test_a_body_that_breaks_off_leaves_nothing(mount: Mount) -> None:
    assert mount.send("PUT", "whole.bin", b"1").status == 201
    address = urlsplit(mount.server.url)
    for name in ("new.bin", "whole.bin"):
        for length in ("Content-Length: 100000", "Transfer-Encoding: chunked"):
            with socket.create_connection((address.hostname, address.port)) as connection:
                head = f"PUT /dav/Drive/{name} HTTP/1.1\r\nHost: x\r\n{length}\r\n"
                head += f"X-Expected-Entity-Length: 100000\r\nAuthorization: {basic(mount.key)}\r\n\r\n"
                body = "ff\r\n" + "x" * 255 + "\r\n" if "chunked" in length else "x" * 255
                connection.sendall((head + body).encode())
    assert mount.send("GET", "new.bin").status == 404
    assert mount.send("GET", "whole.bin").body == b"1"


def test_a_chunked_body_needs_a_length_and_is_stored(mount: Mount) -> None:
    pieces = b"".join(b"5\r\nhello\r\n" for _ in range(3)) + b"0\r\n\r\n"
    for header, status in (
        ("", b"411"),
        ("X-Expected-Entity-Length: 14\r\n", b"400"),
        ("X-Expected-Entity-Length: 16\r\n", b"400"),
        ("X-Expected-Entity-Length: 15\r\n", b"201"),
    ):
        address = urlsplit(mount.server.url)
        with socket.create_connection((address.hostname, address.port)) as connection:
            head = "PUT /dav/Drive/chunked.bin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
            head += f"Transfer-Encoding: chunked\r\n{header}Authorization: {basic(mount.key)}\r\n\r\n"
            connection.sendall(head.encode() + pieces)
            assert connection.recv(12).endswith(status), header
    assert mount.send("GET", "chunked.bin").body == b"hello" * 3


def test_of_many_writers_only_the_one_with_the_lock_writes(mount: Mount) -> None:
    mount.send("PUT", "locked.bin", b"0")
    reply = mount.send("LOCK", "locked.bin", locked_body(), Timeout="Second-600")
    token = reply.headers["lock-token"]

    def write(number: int) -> set[int]:
        statuses = set()
        for _ in range(10):
            statuses.add(mount.send("PUT", "locked.bin", str(number).encode()).status)
            statuses.add(mount.send("DELETE", "locked.bin").status)
            destination = f"{mount.server.url}/dav/Drive/away.bin"
            statuses.add(mount.send("MOVE", "locked.bin", Destination=destination).status)
        return statuses

    with ThreadPoolExecutor(WRITERS) as writers:
        statuses = set().union(*writers.map(write, range(1, WRITERS + 1)))
    assert statuses == {423}
    assert mount.send("GET", "locked.bin").body == b"0"
    assert mount.send("PUT", "locked.bin", b"own", If=f"({token})").status == 204


def test_of_many_locks_of_a_new_name_one_is_given(mount: Mount) -> None:
    with ThreadPoolExecutor(WRITERS) as writers:
        statuses = [
            *writers.map(lambda _: mount.send("LOCK", "raced", locked_body()).status, range(WRITERS))
        ]
    assert sorted(statuses) == [201, *[423] * (WRITERS - 1)]
