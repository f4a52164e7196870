"""Add invitations to tenants."""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

_NAME = sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql")


def upgrade() -> None:
    op.create_table(
        "invitations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("recipient", _NAME, nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("secret_hash", sa.String(length=64), nullable=False),
        sa.Column("invited_by", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name="fk_invitations_tenant_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
        sa.UniqueConstraint("secret_hash", name="uq_invitations_secret_hash"),
        sa.UniqueConstraint(
            "tenant_id", "kind", "recipient", name="uq_invitations_tenant_id_kind_recipient"
        ),
    )
    op.create_index("ix_invitations_kind_recipient", "invitations", ["kind", "recipient"])
    op.create_index("ix_invitations_expires_at", "invitations", ["expires_at"])
    op.create_table(
        "invitation_groups",
        sa.Column("invitation_id", sa.String(length=36), nullable=False),
        sa.Column("group_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id"], ["groups.id"], name="fk_invitation_groups_group_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["invitation_id"],
            ["invitations.id"],
            name="fk_invitation_groups_invitation_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("invitation_id", "group_id", name="pk_invitation_groups"),
    )
    op.create_index("ix_invitation_groups_group_id", "invitation_groups", ["group_id"])
