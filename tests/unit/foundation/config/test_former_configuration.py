"""A configuration of the release before, with every key it had, is still in effect key by key."""

import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from strongroom.foundation.config import Configuration, load
from strongroom.foundation.config.describe import core_sections, template
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.config.sources import KeyPath

FORMER = Path(__file__).with_name("former_configuration.toml")
ADDED = {
    ("tokens", "refresh_reuse_seconds"),
    ("database", "replica_url"),
    ("database", "replica_wait_ms"),
    ("database", "replica_max_age"),
    ("limits", "profile"),
    ("limits", "managed_users_per_caller"),
    ("users", "max_import_lines"),
    ("users", "link_url"),
    ("users", "restore_url"),
    ("pages", "name"),
    ("pages", "primary"),
    ("pages", "support_url"),
    ("pages", "logo"),
    ("pages", "logo_dark"),
    ("pages", "favicon"),
    ("pages", "primary_dark"),
    ("pages", "background"),
    ("pages", "background_dark"),
    ("pages", "background_image"),
    ("pages", "radius"),
    ("pages", "font"),
    ("pages", "font_file"),
    ("pages", "links"),
    ("pages", "icp"),
    ("pages", "public_security"),
    ("pages", "terms_url"),
    ("pages", "privacy_url"),
    ("pages", "terms_version"),
    ("pages", "css_file"),
    ("pages", "templates"),
    ("messages", "code_in_subject"),
    ("users", "deletion_grace_days"),
    ("users", "require_terms"),
    ("limits", "own_exports_per_user"),
    ("messages", "site_in_sms"),
    ("login", "sms_regions"),
    ("captcha", "pages_provider"),
    ("files", "removal_delay_days"),
}


def keys(table: dict[str, Any], path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from keys(value, (*path, name))
        else:
            yield (*path, name), value


def former_keys() -> dict[KeyPath, Any]:
    return dict(keys(tomllib.loads(FORMER.read_text())))


def effective(configuration: Configuration, path: KeyPath) -> Any:
    value: Any = configuration.settings
    for name in path:
        value = value[name] if isinstance(value, dict) else getattr(value, name)
    return plain(value)


def plain(value: Any) -> Any:
    """Return a value as TOML has it."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    return str(value) if isinstance(value, Path | Rate) else value


def test_every_former_key_has_its_value() -> None:
    configuration, former = load(FORMER, {}), former_keys()
    assert len(former) == 143
    assert {path: effective(configuration, path) for path in former} == former


def test_no_former_key_has_its_default() -> None:
    default = load(None, {})
    same = {path for path in former_keys() if path[0] != "storages"}
    assert not [path for path in same if effective(default, path) == former_keys()[path]]


def test_no_key_was_lost_and_none_was_added_unnoticed() -> None:
    current = {path for path, _ in keys(tomllib.loads(uncommented(template(core_sections()))))}
    former = {path for path in former_keys() if path[0] != "storages"}
    assert current == former | ADDED


def uncommented(lines: Iterable[str]) -> str:
    return "\n".join(line.removeprefix("#") for line in lines if not line.startswith("# "))
