"""Real programs, broken bodies and races, on a server with four processes."""

import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final
from urllib.parse import quote, urlsplit

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

    def run(self, *command: str | Path, stdin: str = "", env: Mapping[str, str] | None = None) -> str:
        """Run a program, and return its output."""
        result = subprocess.run(
            command,
            input=stdin,
            env={**os.environ, "HOME": str(self.server.folder), **(env or {})},
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout + result.stderr

    def rclone(self, *command: str | Path) -> str:
        """Run rclone, to which the space is the remote ``drive:``."""
        flags = ("--transfers", "8", "--config", os.devnull)
        return self.run("rclone", *command, *flags, env=self.remote)

    @cached_property
    def remote(self) -> Mapping[str, str]:
        """The environment of rclone."""
        values = {
            "TYPE": "webdav",
            "URL": f"{self.server.url}/dav/Drive/",
            "VENDOR": "owncloud",
            "USER": "any",
            "PASS": self.run("rclone", "obscure", self.key).strip(),
        }
        return {f"RCLONE_CONFIG_DRIVE_{name}": value for name, value in values.items()}


def can_mount() -> bool:
    """Return whether this process may mount file systems of davfs2."""
    return shutil.which("mount.davfs") is not None and Path("/dev/fuse").exists() and os.geteuid() == 0


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


needs_rclone = pytest.mark.skipif(shutil.which("rclone") is None, reason="needs rclone")


def write_files(folder: Path, count: int, size: int = 1024) -> None:
    for number in range(count):
        below = folder / f"folder {number % 10}"
        below.mkdir(exist_ok=True, parents=True)
        (below / f"{number} é.bin").write_bytes(os.urandom(size))


def read_files(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.extended
@needs_rclone
def test_rclone_synchronizes_a_folder(mount: Mount, tmp_path: Path) -> None:
    write_files(tmp_path, FILES)
    mount.rclone("sync", tmp_path, "drive:sync")
    mount.rclone("check", "--download", tmp_path, "drive:sync")
    # The times are the same, so a second run transfers nothing.
    output = mount.rclone("sync", "-v", "--stats-one-line", tmp_path, "drive:sync")
    assert "Copied" not in output, output[-2000:]


@pytest.mark.extended
@needs_rclone
def test_rclone_synchronizes_changes_of_both_sides(mount: Mount, tmp_path: Path) -> None:
    here, other, work = (tmp_path / name for name in ("here", "other", "work"))
    write_files(here, 40)
    command = ("bisync", here, "drive:both", "--workdir", work)
    mount.rclone("mkdir", "drive:both")
    mount.rclone(*command, "--resync")
    (here / "folder 1/1 é.bin").write_bytes(b"changed here")
    (here / "folder 2/2 é.bin").unlink()
    (here / "here.txt").write_bytes(b"new here")
    assert mount.send("PUT", "both/folder%203/3%20%C3%A9.bin", b"changed there").status == 204
    assert mount.send("DELETE", "both/folder%204/4%20%C3%A9.bin").status == 204
    assert mount.send("PUT", "both/there.txt", b"new there").status == 201
    mount.rclone(*command)
    mount.rclone("copy", "drive:both", other)
    files = read_files(here)
    assert files == read_files(other)
    assert files["folder 1/1 é.bin"] == b"changed here"
    assert files["folder 3/3 é.bin"] == b"changed there"
    assert {"here.txt", "there.txt"} <= files.keys()
    assert files.keys().isdisjoint({"folder 2/2 é.bin", "folder 4/4 é.bin"})
    mount.rclone("check", "--download", here, "drive:both")


@pytest.mark.extended
@needs_rclone
@pytest.mark.skipif(shutil.which("restic") is None, reason="needs restic")
def test_restic_stores_and_restores_backups(mount: Mount, tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    write_files(source, 60, 64 * 1024)
    repository = ("-r", "rclone:drive:backups", "--no-cache")
    env = {**mount.remote, "RCLONE_CONFIG": os.devnull, "RESTIC_PASSWORD": "secret"}

    def restic(*command: str | Path) -> str:
        return mount.run("restic", *repository, *command, env=env)

    restic("init")
    restic("backup", source)
    (source / "second.txt").write_bytes(b"second")
    restic("backup", source)
    restic("check", "--read-data")
    restic("restore", "latest", "--target", target)
    assert read_files(target / source.relative_to("/")) == read_files(source)
    restic("forget", "--keep-last", "1", "--prune")
    restic("check", "--read-data")


@pytest.mark.extended
@pytest.mark.skipif(not can_mount(), reason="needs davfs2, /dev/fuse and root")
def test_davfs2_mounts_a_space(mount: Mount, tmp_path: Path) -> None:
    drive, secrets, settings = (tmp_path / name for name in ("drive", "secrets", "settings"))
    address = f"{mount.server.url}/dav/Drive/"
    drive.mkdir()
    secrets.write_text(f"{address} any {mount.key}\n")
    secrets.chmod(0o600)
    settings.write_text(f"secrets {secrets}\nuse_locks 1\ndelay_upload 0\n")
    mount.run("mount", "-t", "davfs", "-o", f"conf={settings}", address, drive)
    write_files(tmp_path / "local", 5)
    files = read_files(tmp_path / "local")
    try:
        (drive / "davfs").mkdir()
        for name, content in files.items():
            (drive / "davfs" / name).parent.mkdir()
            (drive / "davfs" / name).write_bytes(content)
        (drive / "davfs/folder 1/1 é.bin").rename(drive / "davfs/moved.bin")
        (drive / "davfs/folder 2/2 é.bin").unlink()
    finally:
        # It returns when everything is stored.
        mount.run("umount", drive)
    files["moved.bin"] = files.pop("folder 1/1 é.bin")
    gone = ("folder 1/1 é.bin", "folder 2/2 é.bin")
    del files["folder 2/2 é.bin"]
    for name, content in files.items():
        assert mount.send("GET", f"davfs/{quote(name)}").body == content
    assert {mount.send("GET", f"davfs/{quote(name)}").status for name in gone} == {404}


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
