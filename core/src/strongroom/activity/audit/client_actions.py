"""What a client has done for a user, from the audit log."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, func, select

from strongroom.activity.audit.models import AuditRecord, audit_events
from strongroom.activity.audit.sealing import seal_if_available
from strongroom.activity.audit.service import Summaries, UserNames, read_records
from strongroom.foundation.caller import Identity
from strongroom.foundation.database import Database
from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.errors import Forbidden

MOST_SEARCHED: Final = 10_000
"""The newest actions of a user that are searched for the client's, because no index has the clients."""


@dataclass(slots=True, eq=False, repr=False)
class ClientActions:
    """Lists the records of what clients have done for a user, for that user."""

    _database: Database
    _users: UserNames

    def page(
        self, identity: Identity, user_id: str, client_id: str, paging: Paging
    ) -> tuple[Page[AuditRecord], Summaries]:
        """Return a page of records, newest first, and the summary of the user.

        Raises:
            Forbidden: the caller is another user.
        """
        if identity.user_id != user_id:
            raise Forbidden
        seal_if_available(self._database)
        with self._database.read() as connection:
            page = _find(connection, user_id, client_id, paging)
            records = read_records(connection, page.items)
            return page.with_items(records), self._users.summaries(connection, [user_id])


def _find(connection: Connection, user_id: str, client_id: str, paging: Paging) -> Page[int]:
    newest = (
        select(audit_events.c.sequence, audit_events.c.details)
        .where(audit_events.c.actor_id == user_id)
        .order_by(audit_events.c.sequence.desc())
        .limit(MOST_SEARCHED)
        .subquery()
    )
    is_client = newest.c.details["client"].as_string() == client_id
    query = select(newest.c.sequence).where(is_client).order_by(newest.c.sequence.desc())
    count = select(func.count()).select_from(newest).where(is_client)
    return select_page(connection, query, count, paging, lambda row: int(row[0]))
