"""Runs migrations of the core, or of a plugin, on the caller's open connection."""

from alembic import context

from strongroom.foundation.database.metadata import metadata
from strongroom.foundation.database.pace import current_pace

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    target_metadata=attributes.get("metadata", metadata),
    version_table=attributes.get("version_table", "alembic_version"),
    render_as_batch=True,
    transactional_ddl=True,
    # While servers use the database, each migration is a transaction; see plugin_api.migrations.
    transaction_per_migration=attributes.get("online", False),
    pace=current_pace(),
)
with context.begin_transaction():
    context.run_migrations()
