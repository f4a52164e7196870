"""Each setting of each plugin of the project has a title."""

from dataclasses import fields

from strongroom.foundation.config.plugin_discovery import installed_plugins
from strongroom.foundation.plugins.manager import PluginManager
from strongroom.foundation.plugins.selection import BUILTIN, offered_sections
from strongroom_console.server.titles import title_key


def test_settings_of_all_plugins_have_titles() -> None:
    names = [name for name in installed_plugins() if name != "simulators"]
    assert len(names) > 20
    sections = offered_sections(PluginManager(BUILTIN, names))
    tables = {".".join(section.path) for section in sections}
    assert [table for table in sorted(tables) if title_key("section", table) is None] == []
    keys = {
        ".".join((*section.path, item.name))
        for section in sections
        for item in fields(section.options_type)
    }
    assert [name for name in sorted(names) if title_key("plugin", name) is None] == []
    # The titles are in messages/settings.en.toml and settings.zh.toml of the console.
    assert [key for key in sorted(keys) if title_key("setting", key) is None] == []
