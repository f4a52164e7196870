"""The tables of imports of users."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from sqlalchemy import Boolean, Column, ForeignKey, Index, Integer, String, Table, Text

from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper


class ImportState(StrEnum):
    """How far an import is."""

    RECEIVING = "receiving"
    WAITING = "waiting"
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    REVOKED = "revoked"
    """Its caller has lost the right to it."""


ACTIVE_STATES: Final = (ImportState.WAITING.value, ImportState.RUNNING.value)
"""Of imports that have lines to process."""


class OnTakenUser(StrEnum):
    """What happens to a line whose user exists."""

    FAIL = "fail"
    SKIP = "skip"
    UPDATE = "update"


@dataclass(frozen=True, slots=True)
class UserImport:
    """A row of :data:`user_imports`. Times are in milliseconds since the Unix epoch."""

    id: str
    state: str
    created_by: str | None
    key_id: str | None
    on_conflict: str
    dry_run: bool
    events: bool
    created_at: int
    finished_at: int | None
    lines: int
    read: int
    created: int
    updated: int
    skipped: int
    failed: int
    lease_owner: str | None
    lease_until: int | None


user_imports: Final = Table(
    "user_imports",
    metadata,
    Column("id", Id, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("created_by", Id),
    Column("key_id", Id),
    Column("on_conflict", String(8), nullable=False),
    Column("dry_run", Boolean, nullable=False),
    Column("events", Boolean, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("finished_at", Timestamp),
    Column("lines", Integer, nullable=False),
    Column("read", Integer, nullable=False),
    Column("created", Integer, nullable=False),
    Column("updated", Integer, nullable=False),
    Column("skipped", Integer, nullable=False),
    Column("failed", Integer, nullable=False),
    Column("lease_owner", String(36)),
    Column("lease_until", Timestamp),
    Index(None, "created_at", "id"),
)
"""``created_by`` is NULL for the command line, ``key_id`` without an access key. ``events`` states
whether each user makes an event."""

USER_IMPORT: Final = RowMapper(UserImport, user_imports)

user_import_chunks: Final = Table(
    "user_import_chunks",
    metadata,
    Column("import_id", Id, ForeignKey("user_imports.id", ondelete="CASCADE"), primary_key=True),
    Column("first_line", Integer, primary_key=True, autoincrement=False),
    Column("sealed_lines", Text, nullable=False),
)
"""The lines that are not processed yet, encrypted because they have hashes and secrets. The transaction
that imports a chunk deletes it, so each line counts once, whatever happens to the process."""

user_import_keys: Final = Table(
    "user_import_keys",
    metadata,
    Column("import_id", Id, ForeignKey("user_imports.id", ondelete="CASCADE"), primary_key=True),
    Column("hash", String(32), primary_key=True),
    Column("line", Integer, nullable=False),
)
"""Keyed hashes of the ids and credentials of the lines of a running import, to find duplicates."""

user_import_errors: Final = Table(
    "user_import_errors",
    metadata,
    Column("import_id", Id, ForeignKey("user_imports.id", ondelete="CASCADE"), primary_key=True),
    Column("line", Integer, primary_key=True, autoincrement=False),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("code", String(64), nullable=False),
    Column("field", Name, nullable=False),
    Column("message", Name, nullable=False),
)
"""Why lines were refused. ``position`` numbers the errors of a line."""


@dataclass(frozen=True, slots=True)
class LineError:
    """A row of :data:`user_import_errors`, without its import."""

    line: int
    position: int
    code: str
    field: str
    message: str
