"""Stores the service accounts of the server, within the caller's transaction."""

from typing import Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select

from strongroom.foundation.database.paging import Page, Paging, select_page
from strongroom.foundation.database.statements import Statement
from strongroom.identity.service_accounts.models import (
    SERVER_ACCOUNT,
    ServerAccountRow,
    server_accounts,
)
from strongroom.plugin_api.deactivation import Deactivation

_OF_USER: Final = server_accounts.c.user_id == bindparam("user_id")
_ADD: Final = Statement(insert(server_accounts))
_FIND: Final = Statement(select(server_accounts).where(_OF_USER), SERVER_ACCOUNT)
_REMOVE: Final = Statement(delete(server_accounts).where(_OF_USER))


class ServerAccountStore:
    """Repository of the service accounts of the server."""

    def add(self, connection: Connection, row: ServerAccountRow) -> None:
        """Store a new account."""
        _ADD.execute(connection, SERVER_ACCOUNT.values(row))

    def find(self, connection: Connection, user_id: str) -> ServerAccountRow | None:
        """Return the account of a user; ``None`` if the user is not one."""
        return _FIND.first(connection, {"user_id": user_id})

    def page(self, connection: Connection, paging: Paging) -> Page[ServerAccountRow]:
        """Return a page of the accounts, oldest first."""
        oldest_first = (server_accounts.c.created_at, server_accounts.c.user_id)
        query = select(server_accounts).order_by(*oldest_first)
        count = select(func.count()).select_from(server_accounts)
        return select_page(connection, query, count, paging, SERVER_ACCOUNT)

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Remove the account of a deleted user, if there is one."""
        if ended.is_deletion:
            _REMOVE.execute(connection, {"user_id": ended.user_id})
