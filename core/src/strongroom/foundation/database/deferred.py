"""Work of a writing transaction that is done once, right before its commit.

A transaction may change several rows that one derived row depends on. The derived row is written when
all of them have changed, in the same transaction.
"""

from collections.abc import Callable, Set
from typing import Final

from sqlalchemy import Connection

_DEFERRED: Final = "strongroom_deferred"

Work = Callable[[Connection, Set[str]], None]
"""Called with the keys of all :func:`defer` calls of the transaction."""

Deferred = dict[Work, set[str]]


def defer(connection: Connection, work: Work, key: str) -> None:
    """Call ``work`` with a key before the commit of the caller's :class:`Write`."""
    deferred: Deferred = connection.info.setdefault(_DEFERRED, {})
    deferred.setdefault(work, set()).add(key)


def take_deferred(connection: Connection) -> Deferred | None:
    """Return the deferred work, and forget it: the info belongs to the connection."""
    # A lost connection has lost its info, too, and asking for it would begin another one.
    if connection.invalidated:
        return None
    deferred: Deferred | None = connection.info.pop(_DEFERRED, None)
    return deferred


def run_deferred(connection: Connection, deferred: Deferred) -> None:
    """Do deferred work."""
    for work, keys in deferred.items():
        work(connection, keys)
