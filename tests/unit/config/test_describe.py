"""Showing a configuration, and the template of one."""

import tomllib
from dataclasses import fields
from pathlib import Path

from strongroom.foundation.config import load
from strongroom.foundation.config.describe import core_sections, show, template


def test_the_template_is_toml_and_holds_every_key_at_its_default() -> None:
    lines = list(template(core_sections()))
    assert tomllib.loads("\n".join(lines))["server"] == {}
    settings = load(None, {}).settings
    active = "\n".join(line.removeprefix("#") for line in lines if not line.startswith("# "))
    parsed = tomllib.loads(active)
    assert parsed["server"]["port"] == settings.server.port
    assert parsed["limits"]["code_per_device"] == ["1/minute"]
    assert set(parsed) | {"storages"} == {section.path[0] for section in core_sections()} | {"storages"}


def test_the_template_is_accepted_as_a_configuration(tmp_path: Path) -> None:
    lines = [line.removeprefix("#") for line in template(core_sections()) if not line.startswith("# ")]
    options = [section.options_type for section in core_sections()]
    # TOML has no null: these keys have a default only by being absent.
    absent = {item.name for kind in options for item in fields(kind) if item.default is None}
    path = tmp_path / "strongroom.toml"
    path.write_text("\n".join(line for line in lines if line.partition(" =")[0] not in absent))
    assert load(path, {}).settings.server == load(None, {}).settings.server


def test_show_names_the_source_of_a_value_and_hides_secrets(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text("[server]\nport = 1\nsecret_key = 'hush'")
    configuration = load(path, {"STRONGROOM__SERVER__WORKERS": "3"})
    lines = list(show(core_sections(configuration.settings), configuration.raw, with_origin=True))
    assert f"server.port = 1  # {path}:2" in lines
    assert "server.workers = 3  # environment STRONGROOM__SERVER__WORKERS" in lines
    assert 'server.host = "127.0.0.1"  # default' in lines
    assert not any("hush" in line for line in lines)
