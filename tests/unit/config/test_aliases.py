"""Former names of keys: they work, are reported, and conflict with the current names."""

import os
from operator import attrgetter
from pathlib import Path

import pytest
from click.testing import CliRunner

from strongroom.cli.main import root
from strongroom.foundation.config import ConfigurationError, load
from strongroom.foundation.config.loader import ALIASES

USES = [
    ("files.user_tenants", "tenants.allow_user_creation", "false", False),
    ("passwords.hashes_in_flight", "passwords.max_concurrent_hashes", "3", 3),
    ("business_files.pictures_in_flight", "business_files.max_concurrent_images", "5", 5),
    ("messages.templates", "messages.templates_dir", '"/etc/texts"', Path("/etc/texts")),
]


def variable(key: str) -> str:
    return f"STRONGROOM__{key.replace('.', '__').upper()}"


def test_every_alias_is_tested() -> None:
    assert {(".".join(former), ".".join(current)) for former, current in ALIASES.items()} == {
        (former, current) for former, current, *_ in USES
    }


def test_every_alias_is_in_the_notes_for_operators() -> None:
    notes = (Path(__file__).parents[3] / "docs" / "operate" / "releases.md").read_text()
    for former, current, *_ in USES:
        assert f"| `{former}` | `{current}` |" in notes


@pytest.mark.parametrize(("former", "current", "text", "value"), USES)
def test_a_former_key_in_the_file_sets_the_current_one(
    tmp_path: Path, former: str, current: str, text: str, value: object
) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text(f"{former} = {text}")
    configuration = load(path, {})
    assert attrgetter(current)(configuration.settings) == value
    assert configuration.raw.origin(tuple(current.split("."))) == f"{path}:1"
    (notice,) = configuration.deprecations
    assert str(notice) == f"{path}:1: {former}: deprecated: use {current}"


@pytest.mark.parametrize(("former", "current", "text", "value"), USES)
def test_a_former_variable_sets_the_current_key(
    former: str, current: str, text: str, value: object
) -> None:
    configuration = load(None, {variable(former): text.strip('"')})
    assert attrgetter(current)(configuration.settings) == value
    (notice,) = configuration.deprecations
    assert str(notice) == f"environment {variable(former)}: {former}: deprecated: use {current}"


@pytest.mark.parametrize(("former", "current", "text", "_value"), USES)
def test_both_names_are_refused_even_if_one_is_a_variable(
    tmp_path: Path, former: str, current: str, text: str, _value: object
) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text(f"{current} = {text}")
    with pytest.raises(ConfigurationError) as refusal:
        load(path, {variable(former): text})
    assert str(refusal.value) == (
        f"environment {variable(former)}: {former}: is the former name of {current}, "
        f"which is also set; remove {former}"
    )


def test_current_names_are_not_reported(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text("".join(f"{current} = {text}\n" for _, current, text, _ in USES))
    assert not load(path, {}).deprecations


def test_the_error_of_a_wrong_value_names_the_line_and_the_current_key(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text("[passwords]\nhashes_in_flight = 'x'")
    with pytest.raises(ConfigurationError) as refusal:
        load(path, {})
    assert str(refusal.value) == f"{path}:2: passwords.max_concurrent_hashes: must be a whole number"


def test_a_misspelt_former_variable_is_refused_with_the_current_name() -> None:
    with pytest.raises(ConfigurationError, match='"STRONGROOM__TENANTS__ALLOW_USER_CREATION"'):
        load(None, {"STRONGROOM_FILES_USER_TENANTS": "false"})


def test_config_check_reports_a_former_key(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text(f"[server]\ndata_dir = '{tmp_path}'\n[files]\nuser_tenants = false\n")
    result = CliRunner(env=dict.fromkeys(os.environ.keys() & {"STRONGROOM_CONFIG"})).invoke(
        root, ["config", "check", "--offline", "--config", str(path)]
    )
    assert result.exit_code == 0
    assert result.stderr == (
        f"strongroom: warning: {path}:4: files.user_tenants: deprecated: "
        "use tenants.allow_user_creation\n"
    )
