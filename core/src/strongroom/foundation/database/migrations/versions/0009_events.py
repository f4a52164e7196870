"""Number the changes of tenants' files, and add the positions of event sinks."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    # Existing rows get no number: their revisions are unknown, so they are history only.
    op.add_column("file_events", sa.Column("sequence", sa.BigInteger(), nullable=True))
    op.add_column("file_events", sa.Column("revision", sa.BigInteger(), nullable=True))
    op.add_column("file_events", sa.Column("previous_parent_id", sa.String(length=36), nullable=True))
    op.create_index(
        "ix_file_events_tenant_id_sequence", "file_events", ["tenant_id", "sequence"], unique=True
    )
    op.create_table(
        "event_positions",
        sa.Column("sink", sa.String(length=64), nullable=False),
        sa.Column("stream", sa.String(length=36), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("claim", sa.String(length=36), nullable=True),
        sa.Column("claimed_until", sa.BigInteger(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("retry_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sink", "stream", name="pk_event_positions"),
    )
    op.create_index(
        "ix_event_positions_failing",
        "event_positions",
        ["sink", "retry_at"],
        sqlite_where=sa.text("failures > 0"),
        postgresql_where=sa.text("failures > 0"),
    )
    op.create_table(
        "event_dead_letters",
        sa.Column("sink", sa.String(length=64), nullable=False),
        sa.Column("stream", sa.String(length=36), nullable=False),
        sa.Column("sequence", sa.BigInteger(), nullable=False),
        sa.Column("type", sa.String(length=64), nullable=False),
        sa.Column("error", sa.String(length=255), nullable=False),
        sa.Column("failed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("sink", "stream", "sequence", name="pk_event_dead_letters"),
    )
    op.create_index("ix_event_dead_letters_failed_at", "event_dead_letters", ["failed_at"])
