"""Transfers the files of leavers to the successor that an administrator has chosen for a directory."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Connection, bindparam, delete, select

from strongroom.clock import Clock
from strongroom.extensions.provisioning.models import DUE_HANDOVER, DueHandover, due_handovers
from strongroom.extensions.transfers.service import TransferService
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import NotAMember, ValidationFailed

_ORIGIN: Final = Origin(user_agent="handovers")
_IS_ONE: Final = (due_handovers.c.tenant_id == bindparam("of_tenant")) & (
    due_handovers.c.user_id == bindparam("of_user")
)


def _requesting(insert: Any) -> Any:
    columns = {name: insert.excluded[name] for name in ("to_user_id", "requested_at")}
    keys = [due_handovers.c.tenant_id, due_handovers.c.user_id]
    return insert.on_conflict_do_update(index_elements=keys, set_=columns)


_REQUEST: Final = Statement(for_each_dialect(due_handovers, _requesting))
_CANCEL: Final = Statement(delete(due_handovers).where(_IS_ONE))
_NEXT: Final = Statement(
    select(due_handovers)
    .where(due_handovers.c.requested_at >= bindparam("since"))
    .order_by(due_handovers.c.requested_at, due_handovers.c.tenant_id, due_handovers.c.user_id)
    .limit(1),
    DUE_HANDOVER,
)


@dataclass(slots=True, eq=False, repr=False)
class Handovers:
    """Stores which files are to be transferred, and transfers them."""

    _database: Database
    _clock: Clock
    _transfers: TransferService

    def request(self, connection: Connection, tenant_id: str, user_id: str, to_user_id: str) -> None:
        """Let the job transfer the files of a leaver."""
        due = DueHandover(tenant_id, user_id, to_user_id, self._clock.now())
        _REQUEST.execute(connection, DUE_HANDOVER.values(due))

    def cancel(self, connection: Connection, tenant_id: str, user_id: str) -> None:
        """Let the files stay, because the user is back; what was transferred stays so."""
        _CANCEL.execute(connection, {"of_tenant": tenant_id, "of_user": user_id})

    def transfer_due(self, should_stop: Callable[[], bool] = lambda: False) -> int:
        """Transfer the files of all leavers; return the number of leavers.

        A transfer to a successor who has left the tenant is given up: the files stay with the tenant.
        """
        count = 0
        while not should_stop():
            with self._database.read() as connection:
                due = _NEXT.first(connection, {"since": 0})
            if due is None:
                break
            try:
                self._transfers.transfer_of_directory(
                    due.tenant_id, due.user_id, due.to_user_id, _ORIGIN
                )
                count += 1
            except (NotAMember, ValidationFailed):
                pass
            with self._database.write() as connection:
                self.cancel(connection, due.tenant_id, due.user_id)
        return count
