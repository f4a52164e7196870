"""Long commands show their progress: a bar on a terminal, lines elsewhere, nothing with --json."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.config import base_config, write_toml

STRONGROOM = str(Path(sys.executable).with_name("strongroom"))

WORK = """
import sys, threading
from types import SimpleNamespace
from strongroom.cli import progress as module

class Lines:
    "Standard error, which counts its lines."
    def __init__(self, stream):
        self.stream, self.written = stream, threading.Semaphore(0)
    def write(self, text):
        self.stream.write(text)
        self.written.release()
    def __getattr__(self, name):
        return getattr(self.stream, name)

length, hidden, lines, now = {length}, {hidden}, {lines}, [0]
module.time = SimpleNamespace(monotonic=lambda: now[0])
sys.stderr = Lines(sys.stderr)
with module.progress_bar("Counting", length, hidden=hidden, interval=0.05 if lines else 600) as progress:
    progress(1)
    now[0] = 1
    for _ in range(lines):
        assert sys.stderr.written.acquire(timeout=60)
    progress(1)
print("result")
"""


def command(length: int | None = 2, *, hidden: bool = False, lines: int = 0) -> list[str]:
    """Return a command that waits in the middle of its work until there are so many lines.

    The first of them may be from before the first step. A second passes on the clock of the command.
    """
    return [sys.executable, "-c", WORK.format(length=length, hidden=hidden, lines=lines)]


def create_user(program: list[str]) -> None:
    """Create a user, which leaves audit records."""
    options = ["--email", "a@example.com", "--password-stdin", "--json"]
    command = [*program, "users", "create", *options]
    subprocess.run(command, input="Correct1Horse", text=True, check=True, stdout=subprocess.DEVNULL)


def on_terminal(arguments: list[str]) -> str:
    """Return what a command prints on a pseudo terminal."""
    main, other = pty.openpty()
    process = subprocess.Popen(arguments, stdout=other, stderr=other, stdin=other)
    os.close(other)
    shown = b""
    while True:
        try:
            piece = os.read(main, 4096)
        except OSError:
            # The process has closed the terminal.
            break
        if not piece:
            break
        shown += piece
    os.close(main)
    assert process.wait() == 0, shown
    return shown.decode()


def test_a_terminal_shows_a_bar() -> None:
    shown = on_terminal(command())
    assert "Counting" in shown
    assert "100%" in shown
    assert "#" in shown
    assert "result" in shown


def test_a_terminal_without_a_length_shows_the_time() -> None:
    shown = on_terminal(command(None, lines=2))
    assert "\rCounting: 1, 1 s" in shown
    assert "Counting: done after 1 s" in shown


def test_a_pipe_gets_lines_and_no_control_characters() -> None:
    result = subprocess.run(command(lines=2), capture_output=True, text=True, check=True)
    assert result.stdout == "result\n"
    *lines, last = result.stderr.splitlines()
    assert "Counting: 1 of 2 (50%), 1 s" in lines
    assert last == "Counting: done after 1 s"
    assert "\x1b" not in result.stderr
    assert "\r" not in result.stderr


def test_a_pipe_gets_nothing_from_short_work() -> None:
    result = subprocess.run(command(), capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("result\n", "")


@pytest.mark.parametrize("length", [2, None])
def test_hidden_progress_shows_nothing(length: int | None) -> None:
    result = subprocess.run(command(length, hidden=True), capture_output=True, text=True, check=True)
    assert (result.stdout, result.stderr) == ("result\n", "")
    assert on_terminal(command(length, hidden=True)) == "result\r\n"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_commands_have_a_bar_on_a_terminal_and_none_with_json(tmp_path: Path, database_url: str) -> None:
    config = write_toml(tmp_path / "strongroom.toml", base_config(tmp_path, database_url))
    program = [STRONGROOM, "--config", str(config)]
    create_user(program)
    assert "Verifying" in on_terminal([*program, "audit", "verify"])
    shown = on_terminal([*program, "audit", "verify", "--json"])
    assert json.loads(shown)["records"] > 0
    shown = on_terminal([*program, "backup", "create", str(tmp_path / "a.tar"), "--json"])
    assert json.loads(shown)["format"] == 2


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_an_export_is_verified_without_a_server(tmp_path: Path, database_url: str) -> None:
    changes = {"tokens": {"algorithm": "RS256"}}
    config = write_toml(tmp_path / "strongroom.toml", base_config(tmp_path, database_url), changes)
    program = [STRONGROOM, "--config", str(config)]
    create_user(program)
    file = tmp_path / "audit.jsonl"
    with file.open("w") as output:
        subprocess.run([*program, "audit", "export", "--since", "2020-01-01"], stdout=output, check=True)
    keys = str(tmp_path / "data" / "signing-keys.json")
    check = [STRONGROOM, "rescue", "verify-export", str(file), "--jwks", keys]
    result = subprocess.run([*check, "--json"], capture_output=True, text=True, check=True, cwd="/")
    assert json.loads(result.stdout)["records"] > 0
    file.write_text(file.read_text().replace("user.create", "user.delete"))
    refused = subprocess.run(check, capture_output=True, text=True, check=False, cwd="/")
    assert refused.returncode == 1
    assert "was changed" in refused.stderr
    wrong = [*program, "audit", "export", "--since", "2026-01-01T00:00:00"]
    refused = subprocess.run(wrong, capture_output=True, text=True, check=False)
    assert (refused.returncode, "needs an offset" in refused.stderr) == (2, True)
