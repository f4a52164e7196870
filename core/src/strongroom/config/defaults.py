"""Defaults that depend on other keys or on the installed plugins."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from typing import Final

from strongroom.config.extensions import ExtensionValues
from strongroom.config.files import StorageSettings
from strongroom.config.settings import Settings
from strongroom.config.sources import RawConfiguration
from strongroom.plugin_api import ENTRY_POINT_GROUP

_SMS: Final = "sms"
_OF_SMS: Final = "login_sms"


def fill(settings: Settings, extension_values: ExtensionValues, raw: RawConfiguration) -> Settings:
    """Return the settings with these defaults, and add those of extensions to ``extension_values``.

    The default storage and the console sender store their files in ``data_dir``. The default of
    ``plugins.enabled`` contains only installed plugins. The default of ``login.methods`` contains SMS
    only if its plugin is enabled.

    Args:
        settings: the configured values, with fixed defaults for all other keys.
        extension_values: the tables of extensions; modified in place.
        raw: the keys that are set explicitly.
    """
    data_dir = settings.server.data_dir
    if not settings.storages:
        settings.storages["main"] = StorageSettings(backend="local")
        extension_values["storages", "main"] = {"root": str(data_dir / "files")}
    console = extension_values.setdefault(("messages", "console"), {})
    console.setdefault("outbox", str(data_dir / "outbox.jsonl"))
    enabled, methods = settings.plugins.enabled, settings.login.methods
    if not raw.states(("plugins", "enabled")):
        enabled = installed_of(enabled)
    if not raw.states(("login", "methods")) and _OF_SMS not in enabled:
        methods = tuple(name for name in methods if name != _SMS)
    return replace(
        settings,
        plugins=replace(settings.plugins, enabled=enabled),
        login=replace(settings.login, methods=methods),
    )


def installed_of(plugins: Sequence[str]) -> tuple[str, ...]:
    """Return the plugins that are installed, in the same order."""
    installed = {entry_point.name for entry_point in entry_points(group=ENTRY_POINT_GROUP)}
    return tuple(name for name in plugins if name in installed)
