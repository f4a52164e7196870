"""Former names of keys: they work, are reported, and conflict with the current names."""

import os
from operator import attrgetter
from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.support.source_tree import ROOT

from strongroom.cli.main import root
from strongroom.foundation.config import ConfigurationError, load
from strongroom.foundation.config.loader import ALIASES

ADVANCED = [
    ("server.transfer_grace_seconds", "transfer_grace_seconds", "2.5", 2.5),
    ("server.min_transfer_rate", "min_transfer_rate", "7", 7),
    ("passwords.hashes_in_flight", "max_concurrent_hashes", "3", 3),
    ("passwords.max_concurrent_hashes", "max_concurrent_hashes", "3", 3),
    ("passwords.hash_queue", "hash_queue", "9", 9),
    ("captcha.lifetime_seconds", "captcha_lifetime_seconds", "60", 60),
    ("business_files.pictures_in_flight", "max_concurrent_images", "5", 5),
    ("business_files.max_concurrent_images", "max_concurrent_images", "5", 5),
    ("business_files.picture_memory_bytes", "picture_memory_bytes", "67108864", 67108864),
    ("business_files.picture_seconds", "picture_seconds", "8", 8),
    ("files.bundle_lifetime_seconds", "bundle_lifetime_seconds", "90", 90),
    ("files.upload_lifetime_seconds", "upload_lifetime_seconds", "91", 91),
    ("files.open_direct_uploads_per_user", "open_direct_uploads_per_user", "4", 4),
    ("scanning.inline_max_bytes", "scan_inline_max_bytes", "1000", 1000),
    ("scanning.threads", "scan_threads", "3", 3),
    ("events.waiting_per_process", "waiting_per_process", "2", 2),
    ("tenants.max_groups", "max_groups", "4", 4),
    ("tenants.max_groups_per_user", "max_groups_per_user", "2", 2),
    ("tenants.max_invitations", "max_invitations", "6", 6),
]
USES = [
    ("files.user_tenants", "tenants.allow_user_creation", "false", False),
    ("messages.templates", "messages.templates_dir", '"/etc/texts"', Path("/etc/texts")),
    *((former, f"advanced.{name}", text, value) for former, name, text, value in ADVANCED),
]


def variable(key: str) -> str:
    return f"STRONGROOM__{key.replace('.', '__').upper()}"


def test_every_alias_is_tested() -> None:
    assert {(".".join(former), ".".join(current)) for former, current in ALIASES.items()} == {
        (former, current) for former, current, *_ in USES
    }


def test_every_alias_is_in_the_notes_for_operators() -> None:
    notes = (ROOT / "docs" / "operate" / "releases.md").read_text()
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


def test_two_former_names_of_a_key_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text("[passwords]\nhashes_in_flight = 3\nmax_concurrent_hashes = 4")
    with pytest.raises(ConfigurationError) as refusal:
        load(path, {})
    assert str(refusal.value) == (
        f"{path}:2: passwords.hashes_in_flight: is the former name of advanced.max_concurrent_hashes, "
        "which is also set; remove passwords.hashes_in_flight"
    )


def test_current_names_are_not_reported(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    current_keys = {current: text for _, current, text, _ in USES}
    path.write_text("".join(f"{key} = {text}\n" for key, text in current_keys.items()))
    assert not load(path, {}).deprecations


def test_the_error_of_a_wrong_value_names_the_line_and_the_current_key(tmp_path: Path) -> None:
    path = tmp_path / "strongroom.toml"
    path.write_text("[passwords]\nhashes_in_flight = 'x'")
    with pytest.raises(ConfigurationError) as refusal:
        load(path, {})
    assert str(refusal.value) == f"{path}:2: advanced.max_concurrent_hashes: must be a whole number"


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
