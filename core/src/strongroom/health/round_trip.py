"""Tries a storage out: an object is written, read and deleted."""

from io import BytesIO
from typing import Any

from strongroom.plugin_api.storage import StorageBackend, StorageError, StorageFull, StorageUnavailable
from strongroom.storage.object_keys import new_key

_CONTENT = b"written by strongroom to try this storage out"


def fault_of(storage: StorageBackend[Any]) -> str | None:
    """Return what is wrong with a storage, in a phrase, or ``None``.

    Raises:
        StorageUnavailable: it is away, which says nothing about its configuration.
        StorageFull: it has no room, likewise.
    """
    key = new_key()
    try:
        storage.put(key, BytesIO(_CONTENT), size=len(_CONTENT))
        try:
            with storage.open(key) as chunks:
                found = b"".join(chunks)
        finally:
            storage.delete(key)
    except (StorageUnavailable, StorageFull):
        raise
    except StorageError as error:
        return f"fails when an object is written, read and deleted: {error}"
    except Exception as error:
        # A driver's own exceptions, such as for an endpoint that is no URL.
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return f"fails when an object is written, read and deleted: {reason}"
    return None if found == _CONTENT else "gives other bytes back than were written"
