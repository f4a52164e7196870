"""Inserts a row on the condition that the caller's access to a node has not changed."""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Executable, Select, Table, bindparam, func, literal_column, select

from strongroom.content.nodes.access import NodeAccess
from strongroom.content.nodes.grant_ends import with_granted_ends
from strongroom.content.nodes.permissions import access_query, key_access_query
from strongroom.foundation.caller import AnyCaller, DelegatedLimits, Identity
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.identity.sessions.store import good_authorization


class GuardedInsert:
    """Inserts a row only if the caller's access to a node is still the same as when it was read.

    So a transaction that only inserts needs no query of its own to check the access again.

    Args:
        table: the table; a conflict with an existing row inserts nothing either.
    """

    def __init__(self, table: Table) -> None:
        # Composed at the first execution, because composing them would take a hundredth of a start.
        # Composed at the first execution, because composing them takes a hundredth of a start.
        self._of_user = Statement(lambda dialect: _guarded(table, access_query(), dialect))
        self._of_login = Statement(
            lambda dialect: _guarded(table, access_query(good_authorization()), dialect)
        )
        self._of_key = Statement(lambda dialect: _guarded(table, key_access_query(dialect), dialect))

    def execute(
        self,
        connection: Connection,
        caller: AnyCaller,
        seen: NodeAccess,
        row: Mapping[str, Any],
        now: int,
    ) -> bool:
        """Insert the row, and return ``False`` if it exists or the access has changed.

        Args:
            connection: the caller's transaction.
            caller: the caller.
            seen: the access that was read, with the :class:`Ends` of the grants as its further columns.
            row: the values of all columns.
            now: decides which grants have expired.
        """
        node = seen.node
        # Delegated rights are checked again by a query: such uploads are too rare for a statement.
        if node is None or seen.role is None or isinstance(caller.key, DelegatedLimits):
            return False
        read, write, manage = seen.more[:3]
        parameters = {f"new_{column}": value for column, value in row.items()}
        parameters |= {"node_id": node.id, "tenant_id": node.tenant_id, "user_id": caller.user_id}
        parameters |= {"seen_role": seen.role.value, "seen_permission": int(seen.permission), "now": now}
        parameters |= {"seen_read": read, "seen_write": write, "seen_manage": manage}
        acr, max_age = seen.demand or (None, None)
        parameters |= {"seen_acr": acr or "", "seen_age": max_age or 0}
        parameters["authorization_id"] = parameters["key_id"] = caller.authorization_id
        return self._of(caller).first(connection, parameters) is not None

    def _of(self, caller: AnyCaller) -> Statement[Any]:
        if caller.key is not None:
            return self._of_key
        return self._of_user if isinstance(caller, Identity) else self._of_login


def _guarded(table: Table, query: Select[Any], dialect: str) -> Executable:
    found = with_granted_ends(query).subquery("found")
    same = [
        found.c[column] == bindparam(f"seen_{parameter}")
        for column, parameter in (
            ("role", "role"),
            ("permission", "permission"),
            ("READ", "read"),
            ("WRITE", "write"),
            ("MANAGE", "manage"),
        )
    ]
    # The caller's login met this demand.
    same.append(func.coalesce(found.c.required_acr, "") == bindparam("seen_acr"))
    same.append(func.coalesce(found.c.max_proof_age, 0) == bindparam("seen_age"))
    # Present unless the login was revoked or the node deleted.
    present = [found.c[name].is_not(None) for name in ("user_type", "id") if name in found.c]
    values = [bindparam(f"new_{column.name}", type_=column.type) for column in table.c]
    row = select(*values).select_from(found).where(*same, *present)

    def finish(insert: Any) -> Executable:
        inserted: Executable = (
            insert.from_select(list(table.c), row)
            .on_conflict_do_nothing()
            # sqlite3 reports no row count for a statement that begins with WITH.
            .returning(literal_column("1"))
        )
        return inserted

    return for_each_dialect(table, finish)(dialect)
