"""Plugins that fail, are missing or not enabled: reports of commands, and remaining functions."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.distributions import install
from tests.support.source_tree import ROOT

from strongroom.cli.main import root
from strongroom.foundation.config import ConfigurationError, load
from strongroom.foundation.config.plugin_discovery import installed_plugins
from strongroom.foundation.plugins.selection import select

PREAMBLE = 'import click\nfrom strongroom.plugin_api import hookimpl\nAPI_VERSION = "2.0"\n'
COMMANDS = PREAMBLE + "@hookimpl\ndef register_commands():\n    {body}\n"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


def run(*arguments: str, **environment: str) -> Result:
    variables = {f"STRONGROOM__{name}": value for name, value in environment.items()}
    return CliRunner().invoke(root, arguments, env=variables, prog_name="strongroom")


def enabling(*plugins: str) -> str:
    return str(["storage_local", *plugins]).replace("'", '"')


def test_list_names_a_broken_plugin_and_the_reason_despite_other_faults(site: Path) -> None:
    install(site, "riddles", "import not_there_at_all")
    result = run("plugins", "list", PLUGINS__ENABLED=enabling("riddles"), SERVER__PROT="1")
    assert result.exit_code == 0
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("riddles"))
    assert line.split()[1:3] == ["1.0", "broken:"]
    assert "failed to import: ModuleNotFoundError: No module named 'not_there_at_all' (" in line
    assert line.endswith(".py:1)")
    assert "enabled   storage local" in result.stdout
    assert 'server.prot: unknown key; did you mean "port"?' in result.stderr


def test_list_works_on_a_file_that_is_not_toml(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text("[server")
    result = run("--config", str(path), "plugins", "list")
    assert result.exit_code == 0
    assert "enabled   storage local" in result.stdout
    assert "is not TOML" in result.stderr


def test_list_reports_two_plugins_that_claim_one_name(site: Path) -> None:
    offer = (ROOT / "core/src/strongroom/builtin/fixed_captcha.py").read_text()
    for name in ("acme", "bolt"):
        install(site, name, offer.replace('name = "fixed"', 'name = "sesame"'))
    result = run("plugins", "list", PLUGINS__ENABLED=enabling("acme", "bolt"))
    assert result.exit_code == 0
    assert 'plugin "acme" and plugin "bolt" both claim the name "sesame"' in result.stderr


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("raise RuntimeError('broken')", "failed in register_commands: RuntimeError: broken"),
        (
            "return [print]",
            "returned <built-in function print> from register_commands; expected a named",
        ),
    ],
)
def test_a_plugin_whose_commands_fail_is_one_warning_and_leaves_the_others(
    site: Path, body: str, fault: str
) -> None:
    install(site, "riddles", COMMANDS.format(body=body))
    install(site, "puzzles", COMMANDS.format(body='return [click.Command("puzzle")]'))
    result = run("--help", PLUGINS__ENABLED=enabling("riddles", "puzzles"))
    assert result.exit_code == 0
    assert "\n  puzzle" in result.stdout
    (line,) = result.stderr.splitlines()
    assert line.startswith(f'strongroom: warning: plugin "riddles" {fault}')
    assert line.endswith("; its commands are missing")


def test_help_works_with_any_fault_in_the_configuration() -> None:
    result = run("--help", SERVER__PROT="1")
    assert result.exit_code == 0
    assert "\n  doctor " in result.stdout
    assert "server.prot: unknown key" in result.stderr


def test_a_command_of_a_plugin_that_is_not_enabled_names_the_plugin() -> None:
    result = run("wechat", "simulator", PLUGINS__ENABLED=enabling())
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "Error: No such command 'wechat'; the plugin \"simulators\" provides it: "
        'add "simulators" to plugins.enabled\n'
    )


def only(monkeypatch: pytest.MonkeyPatch, *plugins: str) -> None:
    """Let only these plugins be installed."""

    installed = installed_plugins()
    found = {name: installed[name] for name in plugins}
    for module in ("foundation.config.loader", "foundation.plugins.manager", "cli.plugin_commands"):
        monkeypatch.setattr(f"strongroom.{module}.installed_plugins", lambda: found)


def test_a_command_of_a_plugin_that_is_not_installed_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    only(monkeypatch, "storage_local")
    assert "pip install strongroom-simulators" in run("wechat", "simulator").stderr


def test_without_a_configuration_installed_plugins_are_enabled(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch, "storage_local")
    selection = select(load(None, {}))
    assert [choice.extension.name for choice in selection.login_methods] == ["password"]
    assert selection.storages["main"].extension.name == "local"


def test_without_any_storage_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    only(monkeypatch)
    with pytest.raises(ConfigurationError) as refusal:
        select(load(None, {}))
    assert str(refusal.value) == (
        "storages.main: there is no storage: pip install strongroom-storage-local, or configure "
        "[storages.main] with the backend of another enabled plugin"
    )
