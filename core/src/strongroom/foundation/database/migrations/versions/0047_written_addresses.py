"""Keep e-mail addresses as their users wrote them, apart from the value by which they are compared.

Until now, addresses were case-folded after their validation. That left texts that are no address in
their normal form, such as an iota with its accents apart; they are normalised here. A fold to another
domain, of one with a sharp s or a final sigma, stays: mail went to that domain, whose owner has proven
the address.

An address whose normal form another user has keeps its value. The migration logs its user, and so does
``doctor``.
"""

import logging
import unicodedata
from collections.abc import Sequence
from typing import Any

import idna
import sqlalchemy as sa
from alembic import op

revision = "0047"
down_revision = "0046"

logger = logging.getLogger(__name__)

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")
_NOT_ASCII = {"sqlite": "{} GLOB '*[^ -~]*'", "postgresql": "{} ~ '[^ -~]'"}
_REFERENCES = (
    ("account_links", "contact_kind", "contact_value"),
    ("contact_links", "kind", "former"),
    ("contact_links", "kind", "current"),
)


def upgrade() -> None:
    for table in ("credentials", "contact_links", "invitations"):
        op.add_column(table, sa.Column("written", _NAME))
    connection = op.get_bind()
    _normalise_credentials(connection)
    _normalise_invitations(connection)
    for table, kind, value in _REFERENCES:
        for address in _addresses(connection, f"DISTINCT {value}", table, kind, value):
            _rename(connection, table, kind, value, address[0])


def _normalise_credentials(connection: sa.Connection) -> None:
    # A proven address has precedence, then the older one.
    order = "is_verified DESC, created_at, id"
    rows = _addresses(connection, "value, user_id, id", "credentials", "kind", "value", order)
    for value, user_id, row_id in rows:
        key = _normal_form(value)
        if key == value:
            continue
        taken = "SELECT count(*) FROM credentials WHERE kind = 'email' AND value = :key"
        if connection.execute(sa.text(taken), {"key": key}).scalar():
            logger.warning(
                "The e-mail address of the user %s belongs to another user; set another one", user_id
            )
            continue
        change = "UPDATE credentials SET value = :key WHERE id = :id"
        connection.execute(sa.text(change), {"key": key, "id": row_id})


def _normalise_invitations(connection: sa.Connection) -> None:
    query = (
        "SELECT count(*) FROM invitations "
        "WHERE tenant_id = :tenant AND kind = 'email' AND recipient = :key"
    )
    columns = "recipient, tenant_id, id"
    for value, tenant, row_id in _addresses(connection, columns, "invitations", "kind", "recipient"):
        key = _normal_form(value)
        if key == value:
            continue
        taken = connection.execute(sa.text(query), {"tenant": tenant, "key": key}).scalar()
        # Of two invitations of one person, one is enough.
        change = "DELETE FROM invitations" if taken else "UPDATE invitations SET recipient = :key"
        connection.execute(sa.text(f"{change} WHERE id = :id"), {"key": key, "id": row_id})


def _rename(connection: sa.Connection, table: str, kind: str, column: str, value: str) -> None:
    change = f"UPDATE {table} SET {column} = :key WHERE {kind} = 'email' AND {column} = :value"  # noqa: S608  only names of this module
    connection.execute(sa.text(change), {"key": _normal_form(value), "value": value})


def _addresses(
    connection: sa.Connection, columns: str, table: str, kind: str, value: str, order: str = "1"
) -> Sequence[Any]:
    is_other = _NOT_ASCII[connection.dialect.name].format(value)
    query = f"SELECT {columns} FROM {table} WHERE {kind} = 'email' AND {is_other} ORDER BY {order}"  # noqa: S608  only names of this module
    return connection.execute(sa.text(query)).all()


def _normal_form(address: str) -> str:
    local, at, domain = address.rpartition("@")
    local = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", local).lower())
    try:
        return f"{local}{at}{idna.uts46_remap(domain, False, False)}"
    except idna.IDNAError:
        return address
