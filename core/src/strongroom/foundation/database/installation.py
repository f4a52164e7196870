"""Properties of the database itself: its id, its secret key and the code that can serve it.

They are not part of its content, so a backup leaves them out and a restored database has a new id.
"""

import hmac
from typing import Final

from sqlalchemy import Column, Connection, String, Table, bindparam, select

from strongroom.foundation.database.engine import Database
from strongroom.foundation.database.metadata import metadata
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.ids import new_id

installation: Final = Table(
    "installation",
    metadata,
    Column("name", String(80), primary_key=True),
    Column("value", String(255), nullable=False),
)
"""Properties of the database by name."""

_GET: Final = Statement(select(installation.c.value).where(installation.c.name == bindparam("wanted")))
# Processes that start concurrently all use the first one's value.
_ADD: Final = Statement(for_each_dialect(installation, lambda insert: insert.on_conflict_do_nothing()))
_SET: Final = Statement(
    for_each_dialect(
        installation,
        lambda insert: insert.on_conflict_do_update(
            index_elements=["name"], set_={"value": insert.excluded.value}
        ),
    )
)

_ID: Final = "id"
_SECRET: Final = "secret_fingerprint"  # noqa: S105  the name of a row
_OLDEST_CODE: Final = "oldest_code"
_RESTORED_AT: Final = "restored_at"
_LAST_BACKUP_AT: Final = "last_backup_at"


def database_id(database: Database) -> str:
    """Return the id of a database, a UUID that is created with the schema and never changes.

    Raises:
        Unavailable: the database does not respond.
    """
    with database.read() as connection:
        value = _get(connection, _ID)
    if value is not None:
        return value
    # Normally the upgrade has created the id. Concurrent inserts are harmless: the first one wins, and
    # the second query returns it.
    with database.write() as connection:
        create_database_id(connection)
        return _get(connection, _ID) or ""


def create_database_id(connection: Connection) -> None:
    """Create the id of a database, unless it has one."""
    _add(connection, _ID, new_id())


def become_another_database(connection: Connection, fingerprint: str) -> None:
    """Set a new id, and record the secret key that the restored content was created with."""
    _set(connection, _ID, new_id())
    _set(connection, _SECRET, fingerprint)


def is_own_secret(database: Database, fingerprint: str) -> bool:
    """Return whether a secret key is the database's, or whether none is recorded yet.

    Args:
        database: the database, with a current schema.
        fingerprint: see :attr:`~strongroom.foundation.secret_keys.SecretKeys.fingerprint`.

    Raises:
        Unavailable: the database does not respond.
    """
    with database.read() as connection:
        stored = _get(connection, _SECRET)
    return stored is None or hmac.compare_digest(stored, fingerprint)


def accept_secret(database: Database, fingerprint: str) -> bool:
    """Record a secret key if none is recorded, and return :func:`is_own_secret`.

    Raises:
        Unavailable: the database does not respond.
    """
    with database.read() as connection:
        is_recorded = _get(connection, _SECRET) is not None
    if not is_recorded:
        with database.write() as connection:
            _add(connection, _SECRET, fingerprint)
    # Compare even after recording it, because another server may have recorded its key first.
    return is_own_secret(database, fingerprint)


def adopt_secret(database: Database, fingerprint: str) -> None:
    """Record a secret key as the database's, replacing any other.

    Raises:
        Unavailable: the database does not respond.
    """
    with database.write() as connection:
        _set(connection, _SECRET, fingerprint)


def oldest_code(connection: Connection, plugin: str = "") -> str | None:
    """Return the oldest schema revision whose code can serve the database, or ``None``.

    Args:
        plugin: the plugin whose tables are meant; empty: the tables of the core.
    """
    return _get(connection, _oldest_code_name(plugin))


def require_code(connection: Connection, revision: str, plugin: str = "") -> None:
    """Record that code older than a schema revision must not serve the database from now on.

    Migrations call this for tables that older code cannot read, and services for data that older code
    would not obey, such as the first legal hold.
    """
    known = oldest_code(connection, plugin)
    if known is None or known < revision:
        _set(connection, _oldest_code_name(plugin), revision)


def _oldest_code_name(plugin: str) -> str:
    return f"{_OLDEST_CODE} {plugin}".strip()


def restored_at(connection: Connection) -> int | None:
    """Return when a backup was restored, in milliseconds since the Unix epoch, or ``None``."""
    value = _get(connection, _RESTORED_AT)
    return None if value is None else int(value)


def set_restored_at(connection: Connection, milliseconds: int) -> None:
    """Record when a backup was restored into the database."""
    _set(connection, _RESTORED_AT, str(milliseconds))


def last_backup_at(connection: Connection) -> int | None:
    """Return when a backup was last created, in milliseconds since the Unix epoch, or ``None``."""
    value = _get(connection, _LAST_BACKUP_AT)
    return None if value is None else int(value)


def set_last_backup_at(connection: Connection, milliseconds: int) -> None:
    """Record when a backup was created."""
    _set(connection, _LAST_BACKUP_AT, str(milliseconds))


def _get(connection: Connection, name: str) -> str | None:
    value: str | None = _GET.scalar(connection, {"wanted": name})
    return value


def _add(connection: Connection, name: str, value: str) -> None:
    _ADD.execute(connection, {"name": name, "value": value})


def _set(connection: Connection, name: str, value: str) -> None:
    _SET.execute(connection, {"name": name, "value": value})
