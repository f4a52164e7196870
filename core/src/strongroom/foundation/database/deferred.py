"""Work of a writing transaction that is done once, right before its commit.

A transaction may change several rows that one derived row depends on. The derived row is written when
all of them have changed, in the same transaction.
"""

from sqlalchemy import Connection

from strongroom.foundation.database.transaction_state import Deferred, Work, get_transaction_state


def defer(connection: Connection, work: Work, key: str) -> None:
    """Call ``work`` with a key before the commit of the caller's :class:`Write`."""
    get_transaction_state(connection).deferred.setdefault(work, set()).add(key)


def run_deferred(connection: Connection, deferred: Deferred) -> None:
    """Do deferred work."""
    for work, keys in deferred.items():
        work(connection, keys)
