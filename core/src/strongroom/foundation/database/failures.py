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
_READ_ONLY: Final = "25006"
_UNSUPPORTED: Final = "0A000"
_SQLITE_UNAVAILABLE: Final = frozenset(
    {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_CANTOPEN}
)
_WAITED: Final = "All database connections were in use for database.timeout_seconds"
_LOST: Final = "A transaction continued after it had lost its connection to the database"

logger = logging.getLogger(__name__)

FULL_DISK: Final = ErrorLog(logger, has_traceback=False)
"""A full disk refuses each write, so it is logged once a minute, with the number of other refusals."""


READ_ONLY: Final = ErrorLog(logger, has_traceback=False)
"""A standby refuses each write, so it is logged once a minute, with the number of other refusals."""


def raise_translated(error: BaseException | None) -> None:
    """Raise the error for clients that an error of the database means, if there is one."""
    translated = _translation(error)
    if translated is not error and translated is not None:
        raise translated from error


def _translation(error: BaseException | None) -> BaseException | None:
    if isinstance(error, PoolTimeoutError | PendingRollbackError):
        logger.warning(_WAITED if isinstance(error, PoolTimeoutError) else _LOST)
        return Unavailable(retry_after=1)
    return _of_driver(error) if isinstance(error, DBAPIError) else error


def _of_driver(error: DBAPIError) -> BaseException:
    if _is_full(error):
        FULL_DISK.log(error, "The database has no space left on its disk: %s", _reason(error))
        return StorageFull("The database has no space left.")
    if is_read_only(error):
        READ_ONLY.log(error, "The database refuses writes: %s", _reason(error))
    elif getattr(error.orig, "sqlstate", None) == _DEADLOCK:
        # A retry succeeds, but a deadlock is a bug in the order of locks: log its stack trace.
        logger.error("Two transactions waited for each other", exc_info=error)
    elif _is_unavailable(error):
        logger.warning("The database is unavailable: %s", _reason(error))
    else:
        return error
    return Unavailable(retry_after=1)


def is_read_only(error: BaseException | None) -> bool:
    """Return whether a database refused to write because it is a standby or read-only."""
    reason = getattr(error, "orig", None)
    state = getattr(reason, "sqlstate", None)
    # PostgreSQL has no code of its own for a standby that refuses to begin a writing transaction.
    return state == _READ_ONLY or (state == _UNSUPPORTED and "during recovery" in str(reason))


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
