"""Add the tables of imports of users."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")
_COUNTS = ("lines", "read", "created", "updated", "skipped", "failed")


def upgrade() -> None:
    op.create_table(
        "user_imports",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("created_by", sa.String(length=36)),
        sa.Column("on_conflict", sa.String(length=8), nullable=False),
        sa.Column("dry_run", sa.Boolean(), nullable=False),
        sa.Column("events", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger()),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in _COUNTS),
        sa.Column("lease_owner", sa.String(length=36)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id", name="pk_user_imports"),
    )
    op.create_index("ix_user_imports_created_at_id", "user_imports", ["created_at", "id"])
    _create_part(
        "user_import_chunks",
        sa.Column("first_line", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("sealed_lines", sa.Text(), nullable=False),
        keys=("first_line",),
    )
    _create_part(
        "user_import_keys",
        sa.Column("hash", sa.String(length=32), nullable=False),
        sa.Column("line", sa.Integer(), nullable=False),
        keys=("hash",),
    )
    _create_part(
        "user_import_errors",
        sa.Column("line", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("code", sa.String(length=64), nullable=False),
        sa.Column("field", _NAME, nullable=False),
        sa.Column("message", _NAME, nullable=False),
        keys=("line", "position"),
    )


def _create_part(name: str, *columns: sa.Column[Any], keys: tuple[str, ...]) -> None:
    op.create_table(
        name,
        sa.Column("import_id", sa.String(length=36), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(["import_id"], ["user_imports.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("import_id", *keys, name=f"pk_{name}"),
    )
