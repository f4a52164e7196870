"""Former names of keys, which still work but are reported as deprecated."""

from collections.abc import Mapping
from typing import Final

from strongroom.config.problems import ConfigurationError, Problem
from strongroom.config.sources import KeyPath, RawConfiguration

ALIASES: Final[Mapping[KeyPath, KeyPath]] = {
    ("files", "user_tenants"): ("tenants", "allow_user_creation"),
    ("passwords", "hashes_in_flight"): ("passwords", "max_concurrent_hashes"),
    ("business_files", "pictures_in_flight"): ("business_files", "max_concurrent_images"),
    ("messages", "templates"): ("messages", "templates_dir"),
}
"""The current path of each key, by its former path."""


def resolve_aliases(raw: RawConfiguration) -> list[Problem]:
    """Move the values of former keys to the current keys, and return a notice for each.

    Raises:
        ConfigurationError: a key is set by both of its names; one problem each.
    """
    used = {former: current for former, current in ALIASES.items() if raw.states(former)}
    if problems := [_conflict(raw, *names) for names in used.items() if raw.states(names[1])]:
        raise ConfigurationError(problems)
    return [_move(raw, *names) for names in used.items()]


def _conflict(raw: RawConfiguration, former: KeyPath, current: KeyPath) -> Problem:
    message = f"is the former name of {'.'.join(current)}, which is also set; remove {'.'.join(former)}"
    return Problem(raw.origin(former), ".".join(former), message)


def _move(raw: RawConfiguration, former: KeyPath, current: KeyPath) -> Problem:
    origin = raw.origin(former)
    raw.set(current, raw.remove(former), origin)
    return Problem(origin, ".".join(former), f"deprecated: use {'.'.join(current)}")
