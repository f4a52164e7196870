"""Rejects environment variables that look like configuration keys but would be ignored."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Final, get_type_hints

from strongroom.config.aliases import ALIASES
from strongroom.config.problems import ConfigurationError, Problem
from strongroom.config.settings import Settings
from strongroom.config.sources import FILE_SUFFIX, PREFIX

_LOOSE_PREFIX: Final = "STRONGROOM_"
_LINK = re.compile(r"(tcp|udp)://")
"""Service links: Docker and Kubernetes set variables such as STRONGROOM_SERVER_PORT to such URLs."""


def refuse_misspelt_variables(environment: Mapping[str, str]) -> None:
    """Reject variables such as ``STRONGROOM_SERVER__PORT``: a key with the wrong underscores.

    Raises:
        ConfigurationError: there are such variables; one problem each.
    """
    problems = list(_misspelt(environment))
    if problems:
        raise ConfigurationError(problems)


def _misspelt(environment: Mapping[str, str]) -> Iterator[Problem]:
    for name in sorted(environment):
        if not name.upper().startswith(_LOOSE_PREFIX) or name.startswith(PREFIX):
            continue
        meant = _meant(name)
        if meant is not None and not _LINK.match(environment[name]):
            message = f"is not read, because sections and keys are separated by two underscores; {meant}"
            yield Problem(f"environment {name}", "", message)


def _meant(name: str) -> str | None:
    """Return "did you mean ...?" if the name contains a section and a key, else ``None``."""
    words = name.upper().removeprefix(_LOOSE_PREFIX)
    for section, kind in get_type_hints(Settings).items():
        prefix = f"{section.upper()}_"
        if not words.lstrip("_").startswith(prefix):
            continue
        key = words.lstrip("_").removeprefix(prefix)
        if current := ALIASES.get((section, key.lstrip("_").lower())):
            return f'did you mean "{PREFIX}{"__".join(current).upper()}"?'
        if key.startswith("_") or _is_key(kind, key.removesuffix(FILE_SUFFIX)):
            return f'did you mean "{PREFIX}{section.upper()}__{key.lstrip("_")}"?'
    return None


def _is_key(kind: Any, key: str) -> bool:
    declared = getattr(kind, "__dataclass_fields__", None)
    return declared is not None and key.lower() in {item.name for item in fields(kind)}
