"""Entry point of the plugin."""

from typing import Any

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.storage import StorageBackend
from strongroom_storage_oss.backend import OssBackend

API_VERSION = "2.0"


@hookimpl
def register_storage_backends() -> list[type[StorageBackend[Any]]]:
    return [OssBackend]
