"""Entry point of the plugin."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.storage import StorageWrapper
from strongroom_storage_encrypted.wrapper import EncryptedStorage

API_VERSION = "2.0"


@hookimpl
def register_storage_wrappers() -> list[type[StorageWrapper[Any]]]:
    """Register the wrapper ``encrypted``."""
    return [EncryptedStorage]
