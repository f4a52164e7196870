"""The rules for the database that a command works on: its schema and its secret key.

A schema that this code cannot serve is upgraded in development and refused in production. A newer one
that only expands what this code knows is served. The secret key must be the one of the database.
"""

from sqlalchemy.exc import SQLAlchemyError

from strongroom.config import Configuration
from strongroom.database import Database
from strongroom.database.installation import accept_secret
from strongroom.database.upgrade import Schema, read_schema, upgrade
from strongroom.production import refuse_unstated_database
from strongroom.secret_keys import SecretKeys


def open_database(configuration: Configuration) -> Database:
    """Return the configured database, its folder made if it lies in ``data_dir``.

    Raises:
        ConfigurationError: a server in production names no database.
    """
    refuse_unstated_database(configuration)
    configuration.settings.server.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Database(configuration.settings.database_url)


def find_schema(configuration: Configuration, database: Database) -> Schema:
    """Return the schema of the database.

    Raises:
        ConfigurationError: the database does not answer.
    """
    try:
        return read_schema(database.engine)
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).strip().splitlines()[0]
        configuration.add_error(
            ("database", "url"),
            f"the database does not answer: {reason}; start it, or correct database.url",
        )
        configuration.raise_if_invalid()
        raise


def require_served_schema(configuration: Configuration, database: Database) -> None:
    """Upgrade an old schema in development; refuse any other that this code cannot serve.

    Raises:
        ConfigurationError: the database does not answer, or its schema is too old, and upgrading it is
            a decision, or it is too new.
    """
    schema = find_schema(configuration, database)
    if schema.is_served:
        return
    if not schema.is_newer and not configuration.settings.is_production:
        upgrade(database.engine)
        return
    configuration.add_error(("database", "url"), f"the schema is {schema}; {schema.remedy}")
    configuration.raise_if_invalid()


def require_own_secret(configuration: Configuration, database: Database, keys: SecretKeys) -> None:
    """Refuse a secret key that is not the database's; the first one that is used becomes it.

    Raises:
        ConfigurationError: the database was filled under another secret key.
    """
    if accept_secret(database, keys.fingerprint):
        return
    configuration.add_error(
        ("server", "secret_key"),
        "is not the secret key that this database was filled under, so no password would match; "
        "set that one (a backup holds it: tar -xOf ARCHIVE secret.key), or run: "
        "strongroom keys adopt-secret",
    )
    configuration.raise_if_invalid()
