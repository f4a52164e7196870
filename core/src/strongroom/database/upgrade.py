"""The schema's version, and the way to the newest one."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection, Engine, inspect, text

if TYPE_CHECKING:
    from alembic.config import Config

SCHEMA_REVISION: Final = "0001"
"""The newest migration, said here so that a server need not load Alembic to start."""

_UPGRADE_LOCK: Final = 0x5354524F


def current_revision(engine: Engine) -> str | None:
    """Return the revision of the database's schema, or ``None`` if it is empty."""
    with engine.connect() as connection:
        if not inspect(connection).has_table("alembic_version"):
            return None
        return connection.execute(text("SELECT version_num FROM alembic_version")).scalar()


def upgrade(engine: Engine) -> None:
    """Bring the schema to :data:`SCHEMA_REVISION`; two processes that try at once take turns."""
    # Alembic takes a quarter of a second to import, and most starts need none of it.
    from alembic import command

    with engine.execution_options(strongroom_writing=True).begin() as connection:
        _take_turns(connection)
        command.upgrade(alembic_config(connection), "head")


def alembic_config(connection: Connection) -> "Config":
    """Return Alembic's configuration for an open connection."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    config.attributes["connection"] = connection
    return config


def _take_turns(connection: Connection) -> None:
    # On SQLite the transaction has taken the write lock already.
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _UPGRADE_LOCK})
