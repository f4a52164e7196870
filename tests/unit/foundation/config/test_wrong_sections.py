"""Mistakes in each section: one line with the origin, the key, what is wrong and what would be right."""

from pathlib import Path

import pytest
from tests.support.commands import run_command
from tests.support.config import Table, change_config
from tests.support.production import fault
from tests.support.wrong_configurations import MISTAKES


@pytest.mark.parametrize(("change", "key", "remedy"), MISTAKES)
def test_a_mistake_in_any_section_names_the_line_the_key_and_what_would_be_right(
    config: Path, change: Table, key: str, remedy: str
) -> None:
    change_config(config, change)
    config.chmod(0o600)
    line = fault(config)
    assert line.startswith("DIR/strongroom.toml:")
    assert f": {key}: " in line
    assert remedy in line


def test_a_wrong_configuration_exits_with_2(config: Path) -> None:
    change_config(config, {"server": {"port": 70000}})
    assert run_command("config", "check", "--config", str(config)).returncode == 2
