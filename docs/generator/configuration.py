"""The page of configuration keys."""

from collections.abc import Iterator
from dataclasses import fields

from generator.prose import prose, required
from strongroom.config.describe import Section, core_sections, template
from strongroom.config.files import StorageSettings
from strongroom.plugin_manager import PluginManager
from strongroom.selection import BUILTIN, offered_sections

CONFIGURATION = """\
# Configuration

One TOML file, named by `strongroom --config FILE` or `STRONGROOM_CONFIG`; without one, everything is at
its default. Below, every key stands at its default. What is not known is refused, with the line and
what would be right.

- Each key can be set by environment, over the file: `STRONGROOM__SERVER__PORT=8080`.
- Each can be read from a file, as secrets should be: `STRONGROOM__DATABASE__URL_FILE=/run/secrets/url`.
- A variable that is a key but for its underscores, such as `STRONGROOM_SERVER_PORT`, is refused.
- `strongroom config check` reports whether the server would start, `config show --origin` where each
  value was set, and `config template` prints all of this for the plugins that are enabled.

## The core
"""

EXTENSIONS = """\
## What the core brings for its own hooks

The options of a plugin's extensions are in the plugin's README.
"""


def configuration_page() -> Iterator[str]:
    """Yield the pieces of the page of configuration keys."""
    yield CONFIGURATION
    yield from map(section_of, [*core_sections(), Section(("storages", "NAME"), StorageSettings)])
    yield "\n" + EXTENSIONS
    yield from map(section_of, offered_sections(PluginManager(BUILTIN, ())))


def section_of(section: Section) -> str:
    """Return the section of a table of the configuration."""
    for item in fields(section.options_type):
        required(item.metadata["help"], f"the key {'.'.join((*section.path, item.name))}")
    lines = "\n".join(template([section])).rstrip()
    return f"\n{prose(section.options_type)}\n\n```toml\n{lines}\n```\n"
