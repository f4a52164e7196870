"""Defaults that depend on other keys: where the server keeps its own things, what plugins offer."""

from dataclasses import replace
from typing import Final

from strongroom.config.extensions import ExtensionValues
from strongroom.config.keeping import StorageSettings
from strongroom.config.settings import Settings

_SMS: Final = "sms"
_OF_SMS: Final = "login_sms"


def fill(settings: Settings, extension_values: ExtensionValues, *, names_methods: bool) -> Settings:
    """Return the settings with these defaults, and give those of extensions their places.

    The embedded storage and the console sender keep what they do inside ``data_dir``. Login by SMS
    is left out unless the configuration ``names_methods`` itself, or enables the plugin for it.
    """
    data_dir = settings.server.data_dir
    if not settings.storages:
        settings.storages["main"] = StorageSettings(backend="local")
        extension_values["storages", "main"] = {"root": str(data_dir / "files")}
    console = extension_values.setdefault(("messages", "console"), {})
    console.setdefault("outbox", str(data_dir / "outbox.jsonl"))
    if names_methods or _OF_SMS in settings.plugins.enabled:
        return settings
    methods = tuple(name for name in settings.login.methods if name != _SMS)
    return replace(settings, login=replace(settings.login, methods=methods))
