"""Add the proofs of a login, their class and their time."""

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"

_PROOFS = {"password": "pwd", "sms": "sms"}
"""RFC 8176 values of the login methods of the versions before; others state none."""


def upgrade() -> None:
    op.add_column(
        "authorizations",
        sa.Column("amr", sa.String(length=64), nullable=False, server_default=""),
    )
    op.add_column(
        "authorizations",
        sa.Column("acr", sa.String(length=64), nullable=False, server_default="urn:strongroom:single"),
    )
    op.add_column(
        "authorizations",
        sa.Column("auth_time", sa.BigInteger(), nullable=False, server_default="0"),
    )
    logins = sa.table(
        "authorizations", *(sa.column(name) for name in ("method", "amr", "auth_time", "created_at"))
    )
    proofs = sa.case(_PROOFS, value=logins.c.method, else_="")
    op.execute(logins.update().values(auth_time=logins.c.created_at, amr=proofs))
