"""The ownership check of stores: commands refuse a store that belongs to another database."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from strongroom.config import Configuration
from strongroom.plugin_api.storage import StorageError

if TYPE_CHECKING:
    from strongroom.assembly.container import Container


def require_ownership(
    configuration: Configuration, container: "Container"
) -> Mapping[str, StorageError]:
    """Claim unowned stores, and return the errors of temporarily unusable ones by storage name.

    Raises:
        ConfigurationError: a store belongs to another database, or the operator must claim it.
    """
    errors: dict[str, StorageError] = {}
    for name, store in container.keeping.blobs.storages.items():
        try:
            if fault := store.ownership_fault():
                configuration.add_error(("storages", name), fault)
        except StorageError as error:
            errors[name] = error
    configuration.raise_if_invalid()
    return errors
