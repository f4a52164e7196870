"""Translates errors of the database to those that clients get."""

import logging
import sqlite3
from typing import Final

from sqlalchemy.exc import DBAPIError, OperationalError, PendingRollbackError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from strongroom.foundation.errors import StorageFull, Unavailable
from strongroom.foundation.logs import ErrorLog

DATABASE_ERRORS: Final = (DBAPIError, PendingRollbackError, PoolTimeoutError)

# SQLSTATE codes of PostgreSQL.
_DEADLOCK: Final = "40P01"
_DISK_FULL: Final = "53100"
_SQLITE_UNAVAILABLE: Final = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN}
)
_WAITED: Final = "All database connections were in use for database.timeout_seconds"
_LOST: Final = "A transaction continued after it had lost its connection to the database"

logger = logging.getLogger(__name__)

FULL_DISK: Final = ErrorLog(logger, has_traceback=False)
"""A full disk refuses each write, so it is logged once a minute, with the number of other refusals."""


def raise_translated(error: BaseException | None) -> None:
    """Raise the error for clients that an error of the database means, if there is one."""
    translated = _translation(error)
    if translated is not error and translated is not None:
        raise translated from error


def _translation(error: BaseException | None) -> BaseException | None:
    if isinstance(error, PoolTimeoutError | PendingRollbackError):
        logger.warning(_WAITED if isinstance(error, PoolTimeoutError) else _LOST)
        return Unavailable(retry_after=1)
    if not isinstance(error, DBAPIError):
        return error
    if _is_full(error):
        FULL_DISK.log(error, "The database has no space left on its disk: %s", _reason(error))
        return StorageFull("The database has no space left.")
    if getattr(error.orig, "sqlstate", None) == _DEADLOCK:
        # A retry succeeds, but a deadlock is a bug in the order of locks: log its stack trace.
        logger.error("Two transactions waited for each other", exc_info=error)
        return Unavailable(retry_after=1)
    if _is_unavailable(error):
        logger.warning("The database is unavailable: %s", _reason(error))
        return Unavailable(retry_after=1)
    return error


def _reason(error: DBAPIError) -> str:
    """Return the first line of the driver's message, without the statement and its parameters."""
    first = str(error.orig).strip().partition("\n")[0]
    return f"{type(error.orig).__name__}: {first}"


def _is_full(error: DBAPIError) -> bool:
    if getattr(error.orig, "sqlstate", None) == _DISK_FULL:
        return True
    return getattr(error.orig, "sqlite_errorcode", None) == sqlite3.SQLITE_FULL


def _is_unavailable(error: DBAPIError) -> bool:
    """Return whether a retry may succeed, unlike for example with a missing table."""
    code = getattr(error.orig, "sqlite_errorcode", None)
    if code is not None:
        # The lowest byte is the primary result code, the rest its extension.
        return code & 0xFF in _SQLITE_UNAVAILABLE
    return error.connection_invalidated or isinstance(error, OperationalError)
