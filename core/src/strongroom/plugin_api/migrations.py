"""Changes of large tables in migrations, which do not block the writes of servers.

An upgrade of a PostgreSQL database that servers use runs each migration in a transaction of its own. The
functions of this module commit what the migration has done before them, so they come first in
``upgrade()``, and the rest is one transaction. A migration that is interrupted runs again from its
beginning; these functions leave out what is there already. On SQLite, and in a new database, all
migrations are one transaction.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

from alembic import op

_IS_INVALID: Final = "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass('{name}') AND NOT indisvalid"
_LONGEST_PAUSE: Final = 1.0


def add_column(table: str, column: Any) -> None:
    """Add a column of SQLAlchemy, which is nullable or has a default."""
    op.add_column(table, column, if_not_exists=True if _is_online() else None)
    _commit()


def create_index(name: str, table: str, columns: Sequence[Any], **options: Any) -> None:
    """Create an index while others write to its table.

    An invalid index, which an interrupted upgrade leaves, is dropped first.

    Args:
        columns: as of ``alembic.op.create_index``, and so are the options.
    """
    if not _is_online():
        op.create_index(name, table, columns, **options)
        return
    with op.get_context().autocommit_block():
        if op.get_bind().exec_driver_sql(_IS_INVALID.format(name=name)).first():
            op.drop_index(name, postgresql_concurrently=True)
        op.create_index(
            name, table, columns, if_not_exists=True, postgresql_concurrently=True, **options
        )


def drop_index(name: str, table: str) -> None:
    """Drop an index while others write to its table."""
    if not _is_online():
        op.drop_index(name, table)
        return
    with op.get_context().autocommit_block():
        op.drop_index(name, if_exists=True, postgresql_concurrently=True)


def add_constraint(name: str, table: str, rule: str) -> None:
    """Add a rule to a table of PostgreSQL, such as ``CHECK (size >= 0)``; SQLite cannot add one.

    New rows obey it at once, and then the others are checked while servers write.
    """
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute(f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}")
    op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {rule} NOT VALID")
    _commit()
    op.execute(f"ALTER TABLE {table} VALIDATE CONSTRAINT {name}")
    _commit()


def backfill(step: Callable[[Any], int], batch: int) -> None:
    """Change many rows in short transactions, so that no row is locked for long.

    Args:
        step: changes the next rows of a connection, and returns their number. After each step is a pause
            that is as long as the step was, at most a second.
        batch: the number of rows of a step. A step with fewer is the last one, because servers of the
            version before go on adding rows that have only the default.

    An upgrade that is stopped raises between two steps. If servers use the database, another upgrade
    continues there.
    """
    pace = op.get_context().opts.get("pace")
    while True:
        began = time.monotonic()
        count = step(op.get_bind())
        _commit()
        if count < batch:
            return
        if pace is not None:
            pace.require_next(count)
        if _is_online():
            time.sleep(min(_LONGEST_PAUSE, time.monotonic() - began))


def _is_online() -> bool:
    return bool(op.get_context().opts.get("transaction_per_migration"))


def _commit() -> None:
    if _is_online():
        with op.get_context().autocommit_block():
            pass
