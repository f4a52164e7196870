"""The digests of what the configurations of all instances must have in common.

The digests are keyed by the secret of the deployment, and leave out options that are secret, so that the
database reveals nothing about the configuration.
"""

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, is_dataclass
from typing import Any, Final

from strongroom.foundation.config import Settings
from strongroom.foundation.config.describe import Section
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.sessions.signing_keys import KeyRing

_OF_INSTANCE: Final = frozenset({"server", "management", "logging", "tracing", "database", "redis"})
"""Sections that may differ, such as the address to listen on and the way to the database."""

_PURPOSE: Final = "configuration of instances"

SIGNING_KEYS: Final = "signing keys"
"""The keys that sign access tokens, among the sections."""


def make_digests(
    settings: Settings, sections: Iterable[Section], ring: KeyRing, keys: SecretKeys
) -> dict[str, str]:
    """Return the digest of each shared section by its path, such as ``login.sms``."""
    texts = {
        ".".join(section.path): _spell(section.options)
        for section in sections
        if section.path[0] not in _OF_INSTANCE
    }
    server = settings.server
    texts["server"] = _spell([server.mode, server.public_url, server.base_path, server.cors_origins])
    texts[SIGNING_KEYS] = _spell(sorted(str(key.kid) for key in ring.keys))
    return {name: keys.hash(_PURPOSE, f"{name}={text}")[:32] for name, text in texts.items()}


def _spell(value: Any) -> str:
    """Return a text that is equal in all processes; the order of a set is not."""
    return json.dumps(_plain(value), sort_keys=True, default=repr)


def _plain(value: Any) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        # Options that are secret have no representation.
        return {item.name: _plain(getattr(value, item.name)) for item in fields(value) if item.repr}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Set):
        return sorted(map(_spell, value))
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
