"""Seals audit events: gives them their places in the chain after their transactions have committed.

A record contains the hash of the one before. If each transaction appended its own record, it would lock
the chain from there to its commit, and all audited changes of all servers would commit one after the
other. So on PostgreSQL a transaction only inserts its events into a table without order. Afterwards, one
short transaction under the lock of the chain moves many of them together.

Why nothing is lost or sealed twice: an event is inserted in the transaction of its change, and deleted
in the transaction that appends it. A process that is killed leaves events for the next one that seals.
Each reader of the chain seals first, so it finds all events that were committed before.
"""

import logging
from collections.abc import Collection
from contextlib import suppress
from operator import attrgetter
from threading import Event as Flag
from threading import Thread
from time import sleep
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, func, select

from strongroom.activity.audit.chain import append_rows, lock_chain
from strongroom.activity.audit.models import unsealed_audit_events
from strongroom.foundation.database import Database
from strongroom.foundation.database.commit_signal import UNSEALED
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import StrongroomError

POLL_SECONDS: Final = 1.0
"""How often a process looks for events that another process has not sealed, because it was killed."""

_GATHER_SECONDS: Final = 0.02
_BATCH: Final = 500
_ID: Final = unsealed_audit_events.c.id

_NEWEST: Final = Statement(select(func.max(_ID)))
_TAKE: Final = Statement(
    delete(unsealed_audit_events)
    .where(_ID.in_(select(_ID).order_by(_ID).limit(bindparam("limit"))))
    .returning(*unsealed_audit_events.c)
)

logger = logging.getLogger(__name__)


def seal(database: Database) -> None:
    """Append the events to the chain that were committed before the call. Call it without a transaction.

    Raises:
        Unavailable: the database does not respond, or refuses changes.
    """
    if database.engine.dialect.name != "postgresql":
        return
    with database.read_one() as connection:
        newest = _NEWEST.scalar(connection)
    last = 0 if newest is not None else None
    # Up to that one, because others may insert events as fast as they are sealed.
    while last is not None and last < newest:
        with database.write() as connection:
            last = seal_batch(connection)


def seal_if_available(database: Database) -> None:
    """Seal for a list, which answers without the newest events rather than not at all."""
    with suppress(StrongroomError):
        seal(database)


def seal_batch(connection: Connection) -> int | None:
    """Seal the oldest events within a writing transaction; return the id of the last one, if any."""
    lock_chain(connection)
    # A statement after the lock sees what the holder before has committed.
    rows = sorted(_TAKE.all(connection, {"limit": _BATCH}), key=attrgetter("id"))
    append_rows(connection, map(_content, rows))
    return rows[-1].id if rows else None


def _content(row: Any) -> dict[str, Any]:
    content: dict[str, Any] = row._asdict()
    del content["id"]
    return content


class Sealer:
    """Seals the events of its process soon after their commits, and those that were left by others."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._woken = Flag()
        self._is_stopped = False
        self._thread = Thread(target=self._run, name="audit-sealer", daemon=True)

    def start(self) -> None:
        """Start the thread, if the database is PostgreSQL."""
        if self._database.engine.dialect.name == "postgresql":
            self._database.commits.subscribe(self._wake)
            self._thread.start()

    def stop(self, seconds: float = 10) -> None:
        """Seal what is left, and stop."""
        if self._thread.is_alive():
            self._database.commits.unsubscribe(self._wake)
            self._is_stopped = True
            self._woken.set()
            self._thread.join(seconds)

    def _wake(self, topics: Collection[str]) -> None:
        if UNSEALED in topics:
            self._woken.set()

    def _run(self) -> None:
        while not self._is_stopped:
            self._woken.wait(POLL_SECONDS)
            # Commits that follow each other closely are sealed together.
            sleep(_GATHER_SECONDS)
            self._woken.clear()
            self._seal()
        self._seal()

    def _seal(self) -> None:
        try:
            seal(self._database)
        except StrongroomError:
            # The database is unavailable, which is logged already; the next turn seals the events.
            pass
        except Exception:
            logger.exception("Audit events could not be sealed")
