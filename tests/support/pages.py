"""Runs the commands of pages of the documentation, and compares their output."""

import json
import re
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from tests.support.environment import Environment

PORT = "8000"
MISSING = 75
TIMEOUT = 600

_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_NOTES = re.compile(r"((?:^<!-- .* -->\n)+)\Z", re.MULTILINE)
_NOTE = re.compile(r"<!-- (.*?)(?:: (.*))? -->")
_END = "-- end of block --"

VARIABLE = [
    (re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"), "an id"),
    (re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"), "a time"),
    (re.compile(r"^eyJ"), "a token"),
    (re.compile(r"^[A-Za-z0-9_-]{43}$"), "a refresh token"),
]

SCRIPT = """\
set -eu
trap 'kill $(jobs -p) 2>/dev/null || :; wait || :' EXIT
wait_for_server() {{ until curl -sf {url}/livez >/dev/null; do kill -0 $1; sleep 0.1; done; }}
"""


@dataclass(frozen=True)
class Block:
    """A fenced block, and the notes for this runner, in comments that no reader sees.

    The notes: ``not run`` with the reason, ``serve`` and ``background`` for commands that keep running,
    ``answers`` with the input, ``save`` with a file for the reader to save, ``of the background``,
    ``may be missing`` with a tool without which the rest of the page is skipped, ``file`` or ``kit``
    with the file that the block is a copy of.
    """

    language: str
    content: str
    notes: dict[str, str] = field(default_factory=dict)


def blocks_of(page: Path) -> Iterator[Block]:
    """Yield the blocks of a page in order, without included files."""
    text = page.read_text()
    for match in _BLOCK.finditer(text):
        found = _NOTES.search(text[: match.start()])
        notes = dict(_NOTE.findall(found[1])) if found else {}
        if not match[1].startswith("{"):
            yield Block(match[1], match[2], notes)


def settle(value: Any) -> Any:
    """Replace values that differ between runs by their names."""
    if isinstance(value, dict):
        pairs = ((settle(key), settle(item)) for key, item in value.items())
        return {key: "a number" if key == "revision" else item for key, item in pairs}
    if isinstance(value, list):
        return [settle(item) for item in value]
    if isinstance(value, str):
        return next((name for pattern, name in VARIABLE if pattern.match(value)), value)
    return value


def follow(page: Path, folder: Path, environment: Environment, port: int) -> str:
    """Run the commands of a page in order, compare their output with the page, and return all of it."""
    blocks = [block for block in blocks_of(page) if "not run" not in block.notes]
    commands = [block for block in blocks if block.language == "sh"]
    script = SCRIPT.format(url=f"http://127.0.0.1:{port}")
    script += "".join(f"{_command(page, block, port)}\necho '{_END}'\n" for block in commands)
    result = subprocess.run(
        ["bash", "-c", f"{script}\n{_last_words(commands)}"],
        cwd=folder,
        env={**environment.variables, "STRONGROOM__SERVER__PORT": str(port), "TMP_PAGE": str(folder)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
        # Without a terminal, a password is read from where the script gives it.
        start_new_session=True,
        stdin=subprocess.DEVNULL,
    )
    served = folder / "served"
    said = served.read_text() if served.exists() else ""
    if result.returncode == MISSING:
        pytest.skip(result.stdout.splitlines()[-1])
    assert result.returncode == 0, result.stdout + result.stderr + said
    _compare(blocks, result.stdout.split(f"{_END}\n"), folder)
    return result.stdout


def _command(page: Path, block: Block, port: int) -> str:
    text = block.content.replace(f"127.0.0.1:{PORT}", f"127.0.0.1:{port}").rstrip("\n")
    before = ""
    if "save" in block.notes:
        before = f"cp {shlex.quote(str(page.parent / block.notes['save']))} .\n"
    if "serve" in block.notes:
        return f"{before}{text} 2>$TMP_PAGE/served &\nwait_for_server $!"
    if "background" in block.notes:
        return f"{before}{text} >$TMP_PAGE/background &\nbackground=$!"
    if "may be missing" in block.notes:
        missing = f"echo 'no {block.notes['may be missing']}'; exit {MISSING}"
        return f"{before}{{ {text}\n}} || {{ {missing}; }}"
    if "answers" in block.notes:
        return f"{before}{{ {text}\n}} <<< {shlex.quote(block.notes['answers'])}"
    return before + text


def _last_words(commands: Sequence[Block]) -> str:
    return "wait $background" if any("background" in block.notes for block in commands) else ""


def _compare(blocks: Sequence[Block], answers: Sequence[str], folder: Path) -> None:
    """Compare each block of output with that of the command before it."""
    given = iter(answers)
    answer = ""
    for block in blocks:
        if block.language == "sh":
            answer = next(given)
        elif "of the background" in block.notes:
            assert (folder / "background").read_text() == block.content
        elif block.language == "json":
            assert settle(json.loads(answer)) == settle(json.loads(block.content)), answer
        elif block.language == "text":
            assert answer.rstrip("\n") == block.content.rstrip("\n"), answer
