"""Tests a storage by writing, reading and deleting an object."""

from io import BytesIO
from typing import Any

from strongroom.plugin_api.storage import StorageBackend, StorageError, StorageFull, StorageUnavailable
from strongroom.storage.object_keys import new_key

_CONTENT = b"written by strongroom to try this storage out"


def fault_of(storage: StorageBackend[Any]) -> str | None:
    """Return the fault of a storage as a phrase, or ``None``.

    Raises:
        StorageUnavailable: the storage is unavailable, which may be temporary.
        StorageFull: the storage is full, which may be temporary.
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
        # Drivers raise exceptions of their own, for example for an endpoint that is not a URL.
        reason = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return f"fails when an object is written, read and deleted: {reason}"
    return None if found == _CONTENT else "returns different bytes than were written"
