"""README.md is true: its requests are sent, its answers compared, its plugin is the example's."""

import json
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.pages import settle
from tests.support.server import STRONGROOM, Server, serving, write_config

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PLUGIN = ROOT / "examples/storage_network_folder/src/strongroom_storage_network_folder/plugin.py"
CORE = ROOT / "core" / "src" / "strongroom"
FIRST_STEPS = ROOT / "examples/first-steps/first-steps.sh"
PUBLIC_URL = "http://127.0.0.1:8000"
END_OF_BLOCK = "-- end of block --"

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PACKAGE = re.compile(r"(\w+)/")
LINK = re.compile(r"\]\((?!https?:)([^)#]+)\)")

VARIABLE = [
    (re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"), "an id"),
    (re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"), "a time"),
    (re.compile(r"^eyJ"), "a token"),
    (re.compile(r"^[A-Za-z0-9_-]{43}$"), "a refresh token"),
]


def blocks(language: str) -> list[str]:
    return [content for name, content in BLOCK.findall(README) if name == language]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("readme")
    with serving(write_config(folder, f"sqlite:///{folder}/strongroom.sqlite3")) as server:
        yield server


def follow(server: Server, folder: Path) -> list[str]:
    """Run the shell blocks, one after the other, and return what each one printed."""
    command = folder / ".venv" / "bin" / "strongroom"
    command.parent.mkdir(parents=True)
    command.symlink_to(STRONGROOM)
    script = f"\necho '{END_OF_BLOCK}'\n".join(["set -eu", *blocks("sh")])
    result = subprocess.run(
        ["bash", "-c", script.replace(PUBLIC_URL, server.url)],
        cwd=folder,
        env={**os.environ, "STRONGROOM_CONFIG": str(server.config)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout.split(f"{END_OF_BLOCK}\n")[1:]


def test_the_answers_are_those_of_the_server(server: Server, tmp_path: Path) -> None:
    *answers, content = follow(server, tmp_path)
    shown = blocks("json")
    assert len(shown) == len(answers) == 5
    for expected, answer in zip(shown, answers, strict=True):
        assert settle(json.loads(answer)) == settle(json.loads(expected))
    assert blocks("text") == [f"{content}\n"]


def test_the_first_steps_send_as_much_as_the_page_says() -> None:
    (size,) = re.findall(r"^SIZE_MIB=\$\{SIZE_MIB:-(\d+)\}$", FIRST_STEPS.read_text(), re.MULTILINE)
    for page in ("README.md", "README.zh.md"):
        assert f"{size} MiB" in (ROOT / page).read_text(), page


def test_each_command_of_the_server_is_written_with_its_path() -> None:
    """`make serve` installs it into .venv, which is on no PATH."""
    for page in ("README.md", "README.zh.md"):
        named = re.findall(r"\S*strongroom users", (ROOT / page).read_text())
        assert len(named) > 1
        assert {name.strip("`") for name in named} == {".venv/bin/strongroom users"}, page


def test_the_plugin_is_the_example() -> None:
    assert blocks("python") == [PLUGIN.read_text()]


def layout() -> str:
    """Return the map of the tree."""
    (found,) = (block for block in blocks("") if block.startswith("core/src/strongroom/"))
    return found


def test_the_map_names_every_package_of_the_core_and_no_other() -> None:
    lines = re.findall(r"^ {2,}(\S.*)$", layout(), re.MULTILINE)
    named = [name for line in lines for name in PACKAGE.findall(line)]
    wings = {"activity", "assembly", "content", "extensions", "foundation", "identity", "web"}
    packages = [
        *CORE.glob("*/__init__.py"),
        *(path for wing in wings for path in CORE.glob(f"{wing}/*/__init__.py")),
    ]
    assert sorted(named) == sorted(path.parent.name for path in packages)


def test_the_map_names_every_folder_of_the_tree_and_no_other() -> None:
    named = re.findall(r"^(\S+?)/\S* +\S.*$", layout(), re.MULTILINE)
    made = (ROOT / ".gitignore").read_text().split()
    found = {path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")}
    assert set(named) == {name for name in found if f"{name}/" not in made}


def test_the_map_names_every_plugin_of_the_tree_and_no_other() -> None:
    (kinds,) = re.findall(r"^plugins/.*\n((?:  .*\n)+)", layout(), re.MULTILINE)
    named = " ".join(re.findall(r"^  (\S+(?: \S+)*)", kinds, re.MULTILINE)).split()
    assert sorted(named) == sorted(path.parent.name for path in ROOT.glob("plugins/*/pyproject.toml"))


def test_every_link_leads_somewhere() -> None:
    documents = [ROOT / "README.md", *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    links = [
        (document.parent / target).resolve()
        for document in documents
        for target in LINK.findall(document.read_text())
    ]
    assert len(links) > 10
    assert [path for path in links if not path.exists()] == []
