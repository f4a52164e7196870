"""Create the initial schema."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "audit_events",
        sa.Column(
            "sequence",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            autoincrement=False,
            nullable=False,
        ),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("action", sa.String(length=64), nullable=False),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("actor_id", sa.String(length=36), nullable=True),
        sa.Column("target_type", sa.String(length=32), nullable=True),
        sa.Column(
            "target_id",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=True,
        ),
        sa.Column("address", sa.String(length=64), nullable=True),
        sa.Column("user_agent", sa.String(length=512), nullable=True),
        sa.Column("request_id", sa.String(length=64), nullable=True),
        sa.Column("details", sa.JSON(), nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.PrimaryKeyConstraint("sequence", name="pk_audit_events"),
    )
    op.create_index("ix_audit_events_action_sequence", "audit_events", ["action", "sequence"])
    op.create_index("ix_audit_events_actor_id_sequence", "audit_events", ["actor_id", "sequence"])
    op.create_index("ix_audit_events_at_sequence", "audit_events", ["at", "sequence"])
    op.create_index("ix_audit_events_target_id_sequence", "audit_events", ["target_id", "sequence"])
    op.create_table(
        "blobs",
        sa.Column("key", sa.String(length=64), nullable=False),
        sa.Column("storage", sa.String(length=64), nullable=False),
        sa.Column("object_key", sa.String(length=64), nullable=False),
        sa.Column("state", sa.String(length=16), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=True),
        sa.Column("checksum", sa.String(length=64), nullable=True),
        sa.Column("crc32", sa.BigInteger(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("removable_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("key", name="pk_blobs"),
        sa.UniqueConstraint("storage", "object_key", name="uq_blobs_storage_object_key"),
    )
    op.create_index("ix_blobs_state_created_at", "blobs", ["state", "created_at"])
    op.create_index("ix_blobs_storage_state_key", "blobs", ["storage", "state", "key"])
    op.create_table(
        "browser_states",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("purpose", sa.String(length=32), nullable=False),
        sa.Column("browser_hash", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=True),
        sa.Column("data", sa.JSON(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("hash", name="pk_browser_states"),
    )
    op.create_index("ix_browser_states_expires_at", "browser_states", ["expires_at"])
    op.create_table(
        "blob_holds",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_blob_holds"),
    )
    op.create_table(
        "captchas",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("provider", sa.String(length=32), nullable=False),
        sa.Column("sealed_state", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_captchas"),
    )
    op.create_index("ix_captchas_expires_at", "captchas", ["expires_at"])
    op.create_table(
        "counters",
        sa.Column("subject", sa.String(length=128), nullable=False),
        sa.Column("count", sa.Integer(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subject", name="pk_counters"),
    )
    op.create_index("ix_counters_expires_at", "counters", ["expires_at"])
    op.create_table(
        "rate_events",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("subject", sa.String(length=128), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_rate_events"),
    )
    op.create_index("ix_rate_events_at", "rate_events", ["at"])
    op.create_index("ix_rate_events_subject_at", "rate_events", ["subject", "at"])
    op.create_table(
        "sent_messages",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("channel", sa.String(length=16), nullable=False),
        sa.Column(
            "recipient",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("template", sa.String(length=64), nullable=False),
        sa.Column("sender", sa.String(length=64), nullable=True),
        sa.Column("reference", sa.String(length=128), nullable=True),
        sa.Column("outcome", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("sent_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_sent_messages"),
    )
    op.create_index("ix_sent_messages_created_at", "sent_messages", ["created_at"])
    op.create_table(
        "tenants",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("quota_bytes", sa.BigInteger(), nullable=True),
        sa.Column("used_bytes", sa.BigInteger(), nullable=False),
        sa.Column("reserved_bytes", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_tenants"),
    )
    op.create_table(
        "users",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("type", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_users"),
    )
    op.create_index("ix_users_created_at_id", "users", ["created_at", "id"])
    op.create_table(
        "verification_codes",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("recipient_kind", sa.String(length=32), nullable=False),
        sa.Column(
            "recipient",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("purpose", sa.String(length=32), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("consumed_at", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_verification_codes"),
    )
    op.create_index("ix_verification_codes_expires_at", "verification_codes", ["expires_at"])
    op.create_index(
        "ix_verification_codes_recipient",
        "verification_codes",
        ["recipient_kind", "recipient", "purpose", "created_at"],
    )
    op.create_table(
        "authorizations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("user_type", sa.String(length=16), nullable=False),
        sa.Column("method", sa.String(length=32), nullable=False),
        sa.Column("serial", sa.Integer(), nullable=False),
        sa.Column("device_id", sa.String(length=128), nullable=True),
        sa.Column("address", sa.String(length=64), nullable=False),
        sa.Column("user_agent", sa.String(length=512), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("last_seen_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("revoked_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_authorizations_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_authorizations"),
    )
    op.create_index("ix_authorizations_expires_at", "authorizations", ["expires_at"])
    op.create_index("ix_authorizations_user_id_created_at", "authorizations", ["user_id", "created_at"])
    op.create_table(
        "business_files",
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("profile", sa.String(length=32), nullable=False),
        sa.Column("blob_key", sa.String(length=64), nullable=False),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("content_type", sa.String(length=255), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("width", sa.Integer(), nullable=True),
        sa.Column("height", sa.Integer(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["blob_key"], ["blobs.key"], name="fk_business_files_blob_key"),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_business_files_owner_id"),
        sa.PrimaryKeyConstraint("name", name="pk_business_files"),
    )
    op.create_index("ix_business_files_blob_key", "business_files", ["blob_key"])
    op.create_index(
        "ix_business_files_owner_id_created_at", "business_files", ["owner_id", "created_at"]
    )
    op.create_table(
        "credentials",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column(
            "value",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_credentials_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_credentials"),
        sa.UniqueConstraint("kind", "value", name="uq_credentials_kind_value"),
    )
    op.create_index("ix_credentials_user_id", "credentials", ["user_id"])
    op.create_index(
        "uq_credentials_user_id_kind",
        "credentials",
        ["user_id", "kind"],
        unique=True,
        sqlite_where=sa.text("kind IN ('email', 'mobile', 'username')"),
        postgresql_where=sa.text("kind IN ('email', 'mobile', 'username')"),
    )
    op.create_table(
        "nodes",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("parent_id", sa.String(length=36), nullable=True),
        sa.Column("type", sa.String(length=8), nullable=False),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("blob_key", sa.String(length=64), nullable=True),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("content_type", sa.String(length=255), nullable=True),
        sa.Column("checksum", sa.String(length=64), nullable=True),
        sa.Column("owner_id", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["blob_key"], ["blobs.key"], name="fk_nodes_blob_key"),
        sa.ForeignKeyConstraint(["owner_id"], ["users.id"], name="fk_nodes_owner_id"),
        sa.ForeignKeyConstraint(["parent_id"], ["nodes.id"], name="fk_nodes_parent_id"),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name="fk_nodes_tenant_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_nodes"),
        sa.UniqueConstraint("parent_id", "name", name="uq_nodes_parent_id_name"),
    )
    op.create_index("ix_nodes_blob_key", "nodes", ["blob_key"])
    op.create_index("ix_nodes_owner_id", "nodes", ["owner_id"])
    op.create_index("ix_nodes_tenant_id", "nodes", ["tenant_id"])
    op.create_table(
        "folder_counts",
        sa.Column("folder_id", sa.String(length=36), nullable=False),
        sa.Column(
            "first_name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("children", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["folder_id"], ["nodes.id"], name="fk_folder_counts_folder_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("folder_id", "first_name", name="pk_folder_counts"),
    )
    op.create_table(
        "passwords",
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("hash", sa.String(length=128), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_passwords_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name="pk_passwords"),
    )
    op.create_table(
        "tenant_members",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name="fk_tenant_members_tenant_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_tenant_members_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", name="pk_tenant_members"),
    )
    op.create_index("ix_tenant_members_user_id", "tenant_members", ["user_id"])
    op.create_table(
        "grants",
        sa.Column("node_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("permission", sa.SmallInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=True),
        sa.Column("granted_by", sa.String(length=36), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column(
            "node_name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("parent_visible_until", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["node_id"], ["nodes.id"], name="fk_grants_node_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["tenant_id", "user_id"],
            ["tenant_members.tenant_id", "tenant_members.user_id"],
            name="fk_grants_tenant_id_user_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("node_id", "user_id", name="pk_grants"),
    )
    op.create_index(
        "ix_grants_user_id_tenant_id_parent_visible_until",
        "grants",
        ["user_id", "tenant_id", "parent_visible_until"],
    )
    op.create_index(
        "ix_grants_top_level",
        "grants",
        ["user_id", "tenant_id", "node_name", "node_id", "parent_visible_until", "expires_at"],
        sqlite_where=sa.text("parent_visible_until IS NOT NULL"),
        postgresql_where=sa.text("parent_visible_until IS NOT NULL"),
    )
    op.create_table(
        "picture_variants",
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("width", sa.Integer(), nullable=False),
        sa.Column("blob_key", sa.String(length=64), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["blob_key"], ["blobs.key"], name="fk_picture_variants_blob_key"),
        sa.ForeignKeyConstraint(
            ["name"], ["business_files.name"], name="fk_picture_variants_name", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("name", "width", name="pk_picture_variants"),
    )
    op.create_index("ix_picture_variants_blob_key", "picture_variants", ["blob_key"])
    op.create_table(
        "refresh_tokens",
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("authorization_id", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(
            ["authorization_id"],
            ["authorizations.id"],
            name="fk_refresh_tokens_authorization_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("hash", name="pk_refresh_tokens"),
    )
    op.create_index("ix_refresh_tokens_authorization_id", "refresh_tokens", ["authorization_id"])
    op.create_index("ix_refresh_tokens_expires_at", "refresh_tokens", ["expires_at"])
    op.create_table(
        "setup_links",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("hash", sa.String(length=64), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_setup_links"),
    )
    _create_transfers()


def _create_transfers() -> None:
    op.create_table(
        "bundles",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("file_ids", sa.JSON(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name="fk_bundles_tenant_id", ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_bundles_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_bundles"),
    )
    op.create_index("ix_bundles_expires_at", "bundles", ["expires_at"])
    op.create_table(
        "uploads",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("parent_id", sa.String(length=36), nullable=True),
        sa.Column(
            "name",
            sa.String(length=255).with_variant(sa.String(length=255, collation="C"), "postgresql"),
            nullable=False,
        ),
        sa.Column("on_conflict", sa.String(length=16), nullable=False),
        sa.Column("metadata", sa.Text(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("received", sa.BigInteger(), nullable=False),
        sa.Column("file_id", sa.String(length=36), nullable=True),
        sa.Column("lease", sa.String(length=36), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_uploads_tenant_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_uploads_user_id"),
        sa.PrimaryKeyConstraint("id", name="pk_uploads"),
    )
    op.create_index("ix_uploads_expires_at", "uploads", ["expires_at"])
    op.create_index("ix_uploads_tenant_id", "uploads", ["tenant_id"])
    op.create_index("ix_uploads_user_id", "uploads", ["user_id"])
    op.create_table(
        "upload_parts",
        sa.Column("upload_id", sa.String(length=36), nullable=False),
        sa.Column("start", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("blob_key", sa.String(length=64), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["blob_key"], ["blobs.key"], name="fk_upload_parts_blob_key"),
        sa.ForeignKeyConstraint(["upload_id"], ["uploads.id"], name="fk_upload_parts_upload_id"),
        sa.PrimaryKeyConstraint("upload_id", "start", name="pk_upload_parts"),
    )
    op.create_index("ix_upload_parts_blob_key", "upload_parts", ["blob_key"])
