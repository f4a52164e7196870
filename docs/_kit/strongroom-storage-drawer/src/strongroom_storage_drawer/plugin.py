"""The entry point."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.storage import StorageBackend

from strongroom_storage_drawer.backend import DrawerBackend

API_VERSION = "1.0"


@hookimpl
def register_storage_backends() -> list[type[StorageBackend[Any]]]:
    return [DrawerBackend]
