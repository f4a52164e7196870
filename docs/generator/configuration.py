"""Generates the page of configuration keys."""

from collections.abc import Iterator
from dataclasses import Field, fields
from typing import Any

from generator.prose import prose, required
from strongroom.foundation.config.describe import NAME, Section, core_sections, template
from strongroom.foundation.config.file_settings import StorageSettings
from strongroom.foundation.config.limits import NORMAL, OFF, PROFILES, STRICT, LimitsSettings
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.selection import BUILTIN, offered_sections

CONFIGURATION = """\
# Configuration

The configuration is one TOML file, named by `strongroom --config FILE` or `STRONGROOM_CONFIG`; without
a file, every key has its default. The sections below show the defaults. Unknown keys are refused, with
the line and the valid alternatives.

- Environment variables override the file: `STRONGROOM__SERVER__PORT=8080`.
- A variable can name a file with the value, as is best for secrets:
  `STRONGROOM__DATABASE__URL_FILE=/run/secrets/url`.
- A variable that matches a key except for its underscores, such as `STRONGROOM_SERVER_PORT`, is refused.
- `strongroom config check` reports whether the server would start, `config show --origin` shows the
  source of each value, and `config template` prints the keys that most servers need, for the enabled
  plugins; with `--all` also those that this page marks as advanced.

## The core
"""

EXTENSIONS = """\
## Built-in extensions

The README of a plugin documents the options of its extensions.
"""

PROFILES_OF_LIMITS = """\
## Profiles of limits

`profile` in `[limits]` sets the limits that have no value of their own. `off` removes only the limits of
volume; production refuses it. The other limits protect passwords, codes and keys from guessing, users
from floods of messages, and the knowledge of who is registered.

| limit | strict | normal | off |
|---|---|---|---|
"""


def configuration_page() -> Iterator[str]:
    """Yield the pieces of the page of configuration keys."""
    yield CONFIGURATION
    yield from map(section_of, [*core_sections(), Section(("storages", NAME), StorageSettings)])
    yield "\n" + PROFILES_OF_LIMITS
    yield from map(limit_row, fields(LimitsSettings)[1:])
    yield "\n" + EXTENSIONS
    yield from map(section_of, offered_sections(PluginManager(BUILTIN, ())))


def limit_row(item: "Field[Any]") -> str:
    """Return the row of a limit, with its value in each profile."""
    values = (_limit(PROFILES[name].get(item.name, item.default)) for name in (STRICT, NORMAL, OFF))
    return f"| `{item.name}` | {' | '.join(values)} |\n"


def _limit(value: Any) -> str:
    return (", ".join(map(str, value)) or "no limit") if isinstance(value, tuple | list) else str(value)


def section_of(section: Section) -> str:
    """Return the page's section for one TOML table."""
    for item in fields(section.options_type):
        required(item.metadata["help"], f"the key {'.'.join((*section.path, item.name))}")
    lines = "\n".join(template([section])).rstrip()
    return f"\n{prose(section.options_type)}\n\n```toml\n{lines}\n```\n"
