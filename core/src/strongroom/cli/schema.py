"""The rule for a schema that is not the newest: upgraded in development, refused in production."""

from sqlalchemy.exc import SQLAlchemyError

from strongroom.config import Configuration
from strongroom.database import Database
from strongroom.database.upgrade import SCHEMA_REVISION, current_revision, upgrade


def open_database(configuration: Configuration) -> Database:
    """Return the configured database, its folder made if it lies in ``data_dir``."""
    configuration.settings.server.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Database(configuration.settings.database_url)


def require_current_schema(configuration: Configuration, database: Database) -> None:
    """Upgrade the schema in development; in production, refuse to go on with another one.

    Raises:
        ConfigurationError: the database does not answer, or its schema is not the newest, and
            upgrading it is a decision.
    """
    try:
        found = current_revision(database.engine)
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        configuration.blame(("database", "url"), f"the database does not answer: {reason}")
        configuration.refuse_problems()
        raise
    if found == SCHEMA_REVISION:
        return
    if not configuration.settings.is_production:
        upgrade(database.engine)
        return
    message = f"the schema is {found or 'empty'}, not {SCHEMA_REVISION}; run: strongroom db upgrade"
    configuration.blame(("database", "url"), message)
    configuration.refuse_problems()
