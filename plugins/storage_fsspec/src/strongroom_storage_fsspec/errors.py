"""Translates the errors of filesystems, which come from many drivers."""

from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus

from strongroom.plugin_api.storage import (
    StorageError,
    StorageFull,
    StorageUnavailable,
    translate_os_errors,
)


@contextmanager
def translated_errors(key: str = "") -> Iterator[None]:
    """Translate any exception of the block into a :class:`StorageError`.

    Errors not known to be permanent count as an outage, because drivers raise exceptions of their
    own libraries when a connection breaks.
    """
    try:
        with translate_os_errors(key):
            yield
    except StorageError as error:
        # Unknown OSErrors of network filesystems, such as "connection lost", have no fitting class.
        if type(error) is StorageError and not isinstance(error.__cause__, PermissionError):
            raise _unavailable(error.__cause__ or error) from error.__cause__
        raise
    except Exception as error:
        raise _unavailable(error) from error


def _unavailable(error: BaseException) -> StorageError:
    message = f"{type(error).__name__}: {error}"
    status = getattr(getattr(error, "response", None), "status_code", None)
    if status == HTTPStatus.INSUFFICIENT_STORAGE:
        return StorageFull(message)
    return StorageUnavailable(message)
