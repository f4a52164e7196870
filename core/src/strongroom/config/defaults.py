"""Defaults of extensions that depend on where the server keeps its own things."""

from strongroom.config.extensions import ExtensionValues
from strongroom.config.settings import Settings, StorageSettings


def fill(settings: Settings, extension_values: ExtensionValues) -> None:
    """Give the embedded storage and the console sender their places inside ``data_dir``."""
    data_dir = settings.server.data_dir
    if not settings.storages:
        settings.storages["main"] = StorageSettings(backend="local")
        extension_values["storages", "main"] = {"root": str(data_dir / "files")}
    console = extension_values.setdefault(("messages", "console"), {})
    console.setdefault("outbox", str(data_dir / "outbox.jsonl"))
