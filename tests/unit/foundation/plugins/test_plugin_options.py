"""Options of plugins, in ``[plugins.NAME]``: validation, output, and ``host.options``."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from tests.support.distributions import install

from strongroom.cli.main import root

PLUGIN = '''
import click
from dataclasses import dataclass
from typing import Any
from strongroom.plugin_api import hookimpl, option
API_VERSION = "2.0"

@dataclass(frozen=True)
class Options:
    """The options of acme."""

    token: str = option(help="The token.", secret=True)
    days: int = option(30, minimum=1, help="Days.")
    free: dict[str, Any] = option(default_factory=dict, help="Anything.")

@hookimpl
def register_options():
    return Options

@hookimpl
def register_commands(host):
    @click.command("acme")
    def acme():
        click.echo(f"acme {host.options.days} {host.options.free}")
    return [acme]
'''
WITHOUT = 'API_VERSION = "2.0"\n'


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "acme", PLUGIN)
    install(tmp_path, "plain", WITHOUT)
    yield tmp_path / "strongroom.toml"
    for name in [name for name in sys.modules if name.startswith("acme_")]:
        del sys.modules[name]


def run(config: Path, text: str, *arguments: str, **environment: str) -> Result:
    enabled = '[plugins]\nenabled = ["storage_local", "acme", "plain"]\n'
    config.write_text(f'[server]\ndata_dir = "{config.parent}/data"\n{enabled}{text}')
    variables = {f"STRONGROOM__PLUGINS__{name}": value for name, value in environment.items()}
    return CliRunner().invoke(root, ["--config", str(config), *arguments], env=variables)


def fault(config: Path, text: str) -> str:
    """Return the one line with which `config check` refuses this text, without the file's name."""
    result = run(config, text, "config", "check", "--offline")
    (line,) = str(result.exception).splitlines()
    return line.removeprefix(f"{config}:")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "[plugins.acme]\ntoken = 'x'\nday = 1",
            '7: plugins.acme.day: unknown key; did you mean "days"?',
        ),
        ("[plugins.acme]\ntoken = 'x'\ndays = 0", "7: plugins.acme.days: must be at least 1"),
        ("[plugins.acme]\ntoken = 'x'\ndays = 'many'", "7: plugins.acme.days: must be a whole number"),
        ("[plugins.acme]\ndays = 1", "5: plugins.acme.token: is required: the token"),
        (
            "[plugins.acme]\ntoken = 'x'\n[plugins.plain]\na = 1",
            '7: plugins.plain: the plugin "plain" has no options; remove this section',
        ),
        (
            "[plugins.acme]\ntoken = 'x'\n[plugins.storage_s3]\na = 1",
            '7: plugins.storage_s3: the plugin "storage_s3" is not enabled; add it to plugins.enabled',
        ),
        (
            "[plugins.acme]\ntoken = 'x'\n[plugins.acmee]\na = 1",
            '7: plugins.acmee: there is no plugin "acmee"; did you mean "acme"?',
        ),
    ],
)
def test_a_wrong_section_is_refused_with_its_line(config: Path, text: str, expected: str) -> None:
    assert fault(config, text) == expected


def test_options_come_from_the_file_and_the_environment(config: Path) -> None:
    text = "[plugins.acme]\ntoken = 'x'\nfree = {host = 'h', ssl = {on = true}}"
    result = run(config, text, "acme", ACME__DAYS="7", ACME__FREE__PORT="22")
    assert result.output == "acme 7 {'host': 'h', 'ssl': {'on': True}, 'port': 22}\n"


def test_show_hides_secrets_and_names_the_origin(config: Path) -> None:
    text = "[plugins.acme]\ntoken = 'hush'\nfree = {on = 2026-11-22}"
    lines = run(config, text, "config", "show", "--origin", ACME__DAYS="7").output.splitlines()
    assert f'plugins.acme.token = "..."  # {config}:6' in lines
    assert "plugins.acme.days = 7  # environment STRONGROOM__PLUGINS__ACME__DAYS" in lines
    assert f"plugins.acme.free = {{on = 2026-11-22}}  # {config}:7" in lines


def test_the_template_has_the_section(config: Path) -> None:
    output = run(config, "[plugins.acme]\ntoken = 'x'", "config", "template").output
    assert (
        '[plugins.acme]\n# The token.\n#token = "" # required\n# Days. At least 1.\n#days = 30' in output
    )


def test_info_shows_options_and_commands_without_a_configuration(config: Path) -> None:
    output = run(config, "", "plugins", "info", "acme").output
    assert "[plugins.acme]\n# The token." in output
    assert "commands: acme" in output
