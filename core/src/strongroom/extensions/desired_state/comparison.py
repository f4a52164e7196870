"""Compares what a file declares with what the server answers."""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any


def changed_members(declared: Mapping[str, Any], current: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the declared members whose values differ from the server's."""
    return tuple(name for name, value in declared.items() if not is_met(value, current.get(name)))


def is_met(declared: Any, current: Any) -> bool:
    """Return whether a value of the server is what is declared.

    Members that a declared table lacks are the server's choice. The order of texts in a list has no
    meaning in any kind.
    """
    if isinstance(declared, Mapping) and isinstance(current, Mapping):
        return all(is_met(value, current.get(name)) for name, value in declared.items())
    if not (isinstance(declared, list) and isinstance(current, list)):
        return bool(declared == current)
    if all(isinstance(item, str) for item in (*declared, *current)):
        return set(declared) == set(current)
    return len(declared) == len(current) and all(map(is_met, declared, current))


def digest(members: Mapping[str, Any]) -> str:
    """Return the SHA-256 of members, in hexadecimal digits."""
    text = json.dumps(members, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()
