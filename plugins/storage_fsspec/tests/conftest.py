"""Servers of SFTP and WebDAV on this machine, and a storage in each filesystem."""

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from strongroom.testing.server import free_port
from strongroom_storage_fsspec.options import FsspecOptions

SSHD = shutil.which("sshd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
WEBDAV = Path(__file__).with_name("webdav_server.py")
PATIENCE = 120


def await_port(port: int) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=PATIENCE).close()
        except OSError:
            assert time.monotonic() < deadline, "the server does not listen"
            time.sleep(0.02)
        else:
            return


@pytest.fixture(scope="session")
def ssh_options(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The arguments for OpenSSH's server, which runs as this user."""
    if SSHD is None:
        pytest.skip("sshd is not installed; on Debian: apt install openssh-server")
    folder, port = tmp_path_factory.mktemp("sshd"), free_port()
    if os.geteuid() == 0:
        # The server changes its root there before the login, if it may.
        Path("/run/sshd").mkdir(exist_ok=True)
    for name in ("host", "user"):
        key = asyncssh.generate_private_key("ssh-ed25519")
        key.write_private_key(folder / name)
        key.write_public_key(folder / f"{name}.pub")
        (folder / name).chmod(0o600)
    public = (folder / "host.pub").read_text()
    (folder / "known_hosts").write_text(f"[127.0.0.1]:{port} {public}")
    (folder / "config").write_text(
        f"ListenAddress 127.0.0.1\nPort {port}\nHostKey {folder}/host\nPidFile none\n"
        f"AuthorizedKeysFile {folder}/user.pub\nStrictModes no\nUsePAM no\n"
        "Subsystem sftp internal-sftp\nMaxStartups 100\n"
    )
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen([SSHD, "-D", "-e", "-f", folder / "config"], stderr=log)
        try:
            await_port(port)
            yield {
                "port": port,
                "username": getpass.getuser(),
                "client_keys": [str(folder / "user")],
                "known_hosts": str(folder / "known_hosts"),
            }
        finally:
            server.terminate()
            server.wait(PATIENCE)


@pytest.fixture(scope="session")
def webdav_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder, port = tmp_path_factory.mktemp("webdav"), free_port()
    server = subprocess.Popen(
        [sys.executable, WEBDAV, str(folder), str(port)], stderr=subprocess.DEVNULL
    )
    try:
        await_port(port)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(PATIENCE)


@pytest.fixture
def local(tmp_path: Path) -> FsspecOptions:
    return FsspecOptions(url=f"file://{tmp_path}/files")


@pytest.fixture
def memory() -> FsspecOptions:
    return FsspecOptions(url=f"memory://{secrets.token_hex(8)}")


@pytest.fixture
def ssh(tmp_path: Path, ssh_options: dict[str, Any]) -> FsspecOptions:
    return FsspecOptions(url=f"ssh://127.0.0.1{tmp_path}/files", options=ssh_options)


@pytest.fixture
def webdav(webdav_url: str) -> FsspecOptions:
    folder = secrets.token_hex(8)
    return FsspecOptions(url=f"webdav://{folder}", options={"base_url": webdav_url})


@pytest.fixture
def options(request: pytest.FixtureRequest) -> FsspecOptions:
    """The options of the filesystem that a test is parametrized with."""
    found: FsspecOptions = request.getfixturevalue(request.param)
    return found
