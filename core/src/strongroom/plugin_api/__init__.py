"""The public API for plugin authors.

A plugin is a module named by an entry point in the group ``strongroom.plugins``. It states the API
version it was written for and implements hooks (see :mod:`strongroom.foundation.plugins.hookspecs`).
Each hook returns classes that implement the abstract classes of this package::

    from strongroom.plugin_api import hookimpl
    from strongroom.plugin_api.storage import StorageBackend

    API_VERSION = "2.0"

    @hookimpl
    def register_storage_backends() -> list[type[StorageBackend]]:
        return [MyBackend]
"""

from strongroom.plugin_api.extension import Extension, NoOptions, option
from strongroom.plugin_api.markers import API_VERSION, ENTRY_POINT_GROUP, hookimpl

__all__ = ["API_VERSION", "ENTRY_POINT_GROUP", "Extension", "NoOptions", "hookimpl", "option"]
