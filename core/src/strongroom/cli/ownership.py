"""The rule for a store that is another database's: a command refuses it before it does anything."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from strongroom.config import Configuration
from strongroom.plugin_api.storage import StorageError

if TYPE_CHECKING:
    from strongroom.assembly.container import Container


def require_ownership(
    configuration: Configuration, container: "Container"
) -> Mapping[str, StorageError]:
    """Claim unowned stores and return the errors of those that cannot be used now, by storage.

    Raises:
        ConfigurationError: a store is another database's, or cannot be claimed without a decision.
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
