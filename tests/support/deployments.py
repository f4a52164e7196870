"""Deployments that ``strongroom init`` writes, changed so that they run on this machine."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pytest

from strongroom.testing.server import free_port
from tests.support.commands import run_command
from tests.support.server import EMAIL, STOP_SECONDS, STRONGROOM
from tests.support.waiting import wait_until

DOMAIN = "box.example.org"


def init(kind: str, folder: Path, *options: str) -> str:
    """Run the command, and return what it prints."""
    result = run_command("init", kind, str(folder), *options)
    assert result.returncode == 0, result.stderr
    return result.stdout


def succeed(command: Sequence[object], stdin: str = "") -> str:
    """Run a command that must succeed, and return what it prints."""
    result = subprocess.run(
        [str(word) for word in command], input=stdin, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def replace_in(folder: Path, replaced: dict[str, str]) -> None:
    """Replace texts in all files of a folder; each has to occur."""
    missing = set(replaced)
    for path in (path for path in folder.rglob("*") if path.is_file()):
        text = path.read_text()
        for old, new in replaced.items():
            if old in text:
                missing.discard(old)
                text = text.replace(old, new)
        path.write_text(text)
    assert missing == set()


def init_small(tmp_path: Path) -> Path:
    """Write the files of a small server, for this machine's program and user; return their folder."""
    folder = tmp_path / "etc"
    init("small", folder, "--domain", DOMAIN, "--program", str(STRONGROOM))
    replaced = {"/var/lib/strongroom": f"{tmp_path}/data", "8000": str(free_port())}
    replace_in(folder, {**replaced, "runuser -u strongroom -- ": ""})
    (tmp_path / "data").mkdir(mode=0o700)
    return folder


def prepare_small(folder: Path) -> None:
    """Create the schema and a first administrator."""
    control = folder / "strongroomctl"
    succeed([control, "db", "upgrade"])
    succeed(
        [control, "users", "create", "--admin", "--email", EMAIL, "--password-stdin"], "Correct1Horse"
    )


@contextmanager
def caddy_before(folder: Path, status: int = 200) -> Iterator[str]:
    """Run Caddy with the configuration of a small deployment, without TLS, until the block ends.

    Args:
        folder: the folder of the configuration.
        status: what it answers once it runs.
    """
    caddy = shutil.which("caddy")
    if caddy is None:
        pytest.skip("Caddy is not on this machine")
    port = free_port()
    path = folder / "Caddyfile"
    # The interface for changes listens on the same port everywhere.
    text = path.read_text().replace("{\n", "{\n\tadmin off\n", 1)
    path.write_text(text.replace(f"{DOMAIN} {{", f"http://127.0.0.1:{port} {{"))
    environment = {**os.environ, "HOME": str(folder)}
    command = [caddy, "run", "--config", str(path), "--adapter", "caddyfile"]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
    try:
        _wait(f"http://127.0.0.1:{port}/livez", status)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=STOP_SECONDS)


def _wait(url: str, status: int) -> None:
    def answers() -> bool:
        try:
            with urlopen(url, timeout=5) as response:
                return bool(response.status == status)
        except HTTPError as error:
            with error:
                return error.code == status
        except OSError:
            return False

    wait_until(answers)
