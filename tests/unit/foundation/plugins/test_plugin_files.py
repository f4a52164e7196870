"""One-file plugins: files of the folder ``plugins.folder``."""

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from strongroom.cli.main import root
from strongroom.extensions.observability.doctor import CheckState, examine_plugin_files
from strongroom.foundation.config import ConfigurationError, load
from strongroom.foundation.config.plugin_discovery import load_plugin_file
from strongroom.foundation.plugins.selection import select

HEADER = 'from strongroom.plugin_api import hookimpl, option\nAPI_VERSION = "2.0"\n'
PLUGIN = (
    HEADER
    + '''
import click
from dataclasses import dataclass

@dataclass(frozen=True)
class Options:
    """Options."""
    word: "str" = option("hello", help="A word.")

@hookimpl
def register_options():
    return Options

@hookimpl
def register_commands(host):
    @click.command("greet")
    def greet():
        """Greet."""
        click.echo(host.options.word)
    return [greet]
'''
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "plugins.d"
    folder.mkdir()
    (folder / "greeter.py").write_text(PLUGIN)
    (folder / "_helper.py").write_text("raise RuntimeError")
    (folder / "notes.txt").write_text("not Python")
    return folder


def run(folder: Path, *arguments: str, more: str = "") -> Result:
    config = folder.parent / "strongroom.toml"
    config.write_text(
        f'[server]\ndata_dir = "{folder.parent}/data"\n[plugins]\n'
        f'enabled = ["storage_local"]\nfolder = "{folder}"\n{more}'
    )
    return CliRunner().invoke(root, ["--config", str(config), *arguments])


def test_a_configuration_has_one_selection_of_plugins(folder: Path) -> None:
    config = folder.parent / "strongroom.toml"
    config.write_text(f'[plugins]\nenabled = ["storage_local"]\nfolder = "{folder}"\n')
    configuration = load(config, {})
    selection = select(configuration)
    assert [str(plugin) for plugin in selection.plugins.plugins][
        -1
    ] == f'plugin "greeter" ({folder}/greeter.py)'
    assert select(configuration) is selection
    assert select(load(config, {})) is not selection


def fault(folder: Path) -> str:
    """Return the one line that a configuration with the folder is refused with."""
    (line,) = str(run(folder, "config", "check", "--offline").exception).splitlines()
    return line.partition(": plugins.")[2].replace(str(folder), "FOLDER")


def test_a_file_is_a_plugin_with_options_and_commands(folder: Path) -> None:
    assert run(folder, "greet").output == "hello\n"
    assert run(folder, "greet", more='[plugins.greeter]\nword = "hi"\n').output == "hi\n"
    result = run(folder, "config", "show", more='[plugins.greeter]\nword = "hi"\n')
    assert 'plugins.greeter.word = "hi"' in result.output


def test_a_changed_file_is_imported_again(folder: Path) -> None:
    assert run(folder, "greet").output == "hello\n"
    (folder / "greeter.py").write_text(PLUGIN.replace('"hello"', '"moin"'))
    assert run(folder, "greet").output == "moin\n"


def test_an_edit_within_a_second_that_keeps_the_size_is_seen_by_the_next_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    path = tmp_path / "counter.py"
    for value in (1, 2):
        path.write_text(f"VALUE = {value}\n")
        # Two times of one second, which is the resolution of the bytecode cache.
        os.utime(path, ns=(10**18, 10**18 + value))
        module = load_plugin_file("counter", path)
        assert value == module.VALUE


def test_list_and_info_show_the_file(folder: Path) -> None:
    (line,) = (line for line in run(folder, "plugins", "list").output.splitlines() if "greeter" in line)
    assert line.split() == [
        "greeter", "file", "enabled", "commands,", "options", f"({folder}/greeter.py)",
    ]  # fmt: skip
    output = run(folder, "plugins", "info", "greeter").output
    assert f"  file         {folder}/greeter.py\n" in output
    assert '[plugins.greeter]\n# A word.\n#word = "hello"' in output


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("x.py", "import nothing_there", 'folder: plugin "x" failed to import: ModuleNotFoundError: '),
        ("x.py", "def (", 'folder: plugin "x" failed to import: SyntaxError: '),
        (
            "x.py",
            PLUGIN.replace("API_VERSION", "VERSION"),
            'folder: plugin "x" (FOLDER/x.py) must state API_V',
        ),
        (
            "x.py",
            HEADER + "def start(host): ...",
            'folder: plugin "x" (FOLDER/x.py) has no hooks; decorate its func',
        ),
        ("My-Plugin.py", PLUGIN, "folder: FOLDER/My-Plugin.py: rename it: a plugin has lowercase lett"),
        ("smtp.py", PLUGIN, 'folder: plugin "smtp" (FOLDER/smtp.py) is enabled twice; rename the'),
        (
            "storage_local.py",
            PLUGIN,
            'folder: plugin "storage_local" (FOLDER/storage_local.py) is enabled twice; ',
        ),
    ],
)
def test_a_faulty_file_is_one_line(folder: Path, name: str, content: str, expected: str) -> None:
    (folder / name).write_text(content)
    assert fault(folder).startswith(expected)


def test_list_shows_a_broken_file_with_the_reason_and_the_others(folder: Path) -> None:
    (folder / "broken.py").write_text("1 / 0")
    result = run(folder, "plugins", "list")
    assert result.exit_code == 0
    assert any(
        line.startswith("broken") and "broken:   plugin" in line and "ZeroDivisionError" in line
        for line in result.stdout.splitlines()
    )
    assert "greeter              file       enabled" in result.stdout


@pytest.mark.parametrize("hook", ["register_blueprints", "register_jobs", "register_commands"])
def test_list_shows_a_plugin_whose_registration_fails(folder: Path, hook: str) -> None:
    (folder / "broken.py").write_text(HEADER + f"@hookimpl\ndef {hook}(host):\n    raise OSError('x')\n")
    result = run(folder, "plugins", "list")
    said = f'plugin "broken" (FOLDER/broken.py) failed in {hook}: OSError: x (FOLDER/broken.py:5)'
    assert said in result.stdout.replace(str(folder), "FOLDER")
    assert "greeter              file       enabled" in result.stdout
    assert fault(folder) == f"folder: {said}"


def test_a_folder_that_is_missing_or_closed_is_one_line(folder: Path) -> None:
    missing = folder / "missing"
    remedy = "name a folder that the server's user may read"
    assert fault(missing) == f"folder: FOLDER cannot be read: No such file or directory; {remedy}"
    if os.geteuid() != 0:
        folder.chmod(0)
        assert fault(folder) == f"folder: FOLDER cannot be read: Permission denied; {remedy}"
    result = run(missing, "plugins", "list")
    assert result.exit_code == 0
    assert "cannot be read" in result.stderr


def select_in(folder: Path, mode: str) -> None:
    """Load the plugins of the folder."""
    config = folder.parent / "strongroom.toml"
    config.write_text(
        f'[server]\nmode = "{mode}"\n[plugins]\nenabled = ["storage_local"]\nfolder = "{folder}"\n'
    )
    select(load(config, {}))


def test_production_runs_no_file_that_others_can_change(folder: Path) -> None:
    ran = folder / "ran"
    (folder / "greeter.py").write_text(f"{PLUGIN}\nopen({str(ran)!r}, 'w').close()\n")
    for path in (folder, folder / "greeter.py"):
        mode = path.stat().st_mode
        path.chmod(mode | 0o002)
        with pytest.raises(ConfigurationError) as caught:
            select_in(folder, "production")
        wanted = f"plugins.folder: {path} can be changed by others; run: chmod o-w {path}"
        assert str(caught.value).endswith(wanted)
        assert not ran.exists()
        path.chmod(mode)
    select_in(folder, "production")
    assert ran.exists()


def test_development_runs_a_file_that_others_can_change_and_the_doctor_says_so(folder: Path) -> None:
    file = folder / "greeter.py"
    assert examine_plugin_files(folder).state is CheckState.OK
    file.chmod(0o666)
    select_in(folder, "development")
    result = examine_plugin_files(folder)
    assert (result.state, result.remedy) == (CheckState.FAILED, f"chmod o-w {file}")
    assert str(file) in result.message
