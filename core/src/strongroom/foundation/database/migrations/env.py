"""Runs migrations of the core, or of a plugin, on the caller's open connection."""

from alembic import context

from strongroom.foundation.database.metadata import metadata

attributes = context.config.attributes
context.configure(
    connection=attributes["connection"],
    target_metadata=attributes.get("metadata", metadata),
    version_table=attributes.get("version_table", "alembic_version"),
    render_as_batch=True,
    transactional_ddl=True,
)
with context.begin_transaction():
    context.run_migrations()
