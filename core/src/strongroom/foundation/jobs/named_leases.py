"""Leases by name, which plugins acquire: one holder at a time, or several that share the name."""

from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Column,
    Index,
    String,
    Table,
    bindparam,
    delete,
    func,
    insert,
    or_,
    select,
)

from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.changes import AdvisoryLock
from strongroom.foundation.database.leases import RowLease
from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.pruning import prune
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.ids import new_id
from strongroom.plugin_api.leases import Lease

plugin_leases: Final = Table(
    "plugin_leases",
    metadata,
    Column("id", Id, primary_key=True),
    Column("plugin", String(64), nullable=False),
    Column("name", Name, nullable=False),
    # Not read. It is NOT NULL without a default, and code of revision 0053 and older writes it, so a
    # migration cannot drop it while such a node runs: only a contracting one, with `oldest_code`, can.
    Column("holder", String(255), nullable=False),
    Column("is_shared", Boolean, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index("ix_plugin_leases_plugin_name", "plugin", "name"),
    Index("ix_plugin_leases_expires_at", "expires_at"),
)

# The namespace of the advisory locks on PostgreSQL: "LEAS" in ASCII. Two names with the same hash only
# wait for each other.
_LOCK: Final = AdvisoryLock(0x4C454153, func.hashtext(bindparam("key")))
_ROWS: Final = plugin_leases.c
# A row is a lease, and nothing else. Each lease has its own length, so there is no common one.
_ROW: Final = RowLease(owner=_ROWS.id, until=_ROWS.expires_at, milliseconds=0)
_IS_NAMED: Final = (_ROWS.plugin == bindparam("of_plugin")) & (_ROWS.name == bindparam("of_name"))
_IS_OWN: Final = _ROWS.plugin == bindparam("of_plugin")
_LEASE: Final = (_ROWS.id, _ROWS.name, _ROWS.is_shared, _ROWS.expires_at)

_FORGET_ENDED: Final = Statement(delete(plugin_leases).where(_IS_NAMED, _ROW.is_over))
_IS_EXCLUDED: Final = Statement(
    select(_ROWS.id)
    .where(_IS_NAMED, or_(~bindparam("shared", type_=Boolean), ~_ROWS.is_shared))
    .limit(1)
)
_ADD: Final = Statement(insert(plugin_leases))
# An ended lease is never revived: another holder may have come and gone since.
_RENEW: Final = Statement(
    _ROW.renew().where(_IS_OWN, _ROW.is_running).returning(*_LEASE), lambda row: Lease(*row)
)
_END: Final = Statement(delete(plugin_leases).where(_ROW.is_owned, _IS_OWN, _ROW.is_running))


@dataclass(slots=True, eq=False, repr=False)
class NamedLeases:
    """The leases of all plugins.

    All methods raise ``Unavailable`` if the database does not respond.
    """

    _database: Database
    _clock: Clock

    def acquire(self, plugin: str, name: str, milliseconds: int, *, shared: bool) -> Lease | None:
        """Add a lease, or return ``None`` if another one of the name excludes it."""
        of_name = {"of_plugin": plugin, "of_name": name}
        with self._database.write() as connection:
            # Before the first read, so that it sees the leases of the holders of the lock before.
            _LOCK.acquire(connection, key=f"{plugin}:{name}")
            now = self._clock.now()
            _FORGET_ENDED.execute(connection, {**of_name, "now": now})
            if _IS_EXCLUDED.scalar(connection, {**of_name, "shared": shared}) is not None:
                return None
            lease = Lease(new_id(), name, shared, now + milliseconds)
            _ADD.execute(connection, _row(plugin, lease))
        return lease

    def renew(self, plugin: str, lease_id: str, milliseconds: int) -> Lease | None:
        """Extend a lease, or return ``None`` if it has ended."""
        now = self._clock.now()
        of_lease = {"owner": lease_id, "of_plugin": plugin, "now": now, "until": now + milliseconds}
        with self._database.write() as connection:
            return _RENEW.first(connection, of_lease)

    def release(self, plugin: str, lease_id: str) -> bool:
        """End a lease, and return whether it had not ended already."""
        of_lease = {"owner": lease_id, "of_plugin": plugin, "now": self._clock.now()}
        with self._database.write() as connection:
            return _END.execute(connection, of_lease) == 1

    def prune(self) -> int:
        """Delete the leases that have ended, and return their number."""
        ended = plugin_leases.c.expires_at <= self._clock.now()
        return prune(self._database, plugin_leases.c.id, ended)


def _row(plugin: str, lease: Lease) -> dict[str, Any]:
    return {
        "id": lease.id,
        "plugin": plugin,
        "name": lease.name,
        # No code reads this column yet.
        "holder": "",
        "is_shared": lease.is_shared,
        "expires_at": lease.expires_at,
    }
