"""Credentials and passwords."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Column, ForeignKey, Index, String, Table, UniqueConstraint, text

from strongroom.database.metadata import Id, Name, Timestamp, metadata

EMAIL: Final = "email"
MOBILE: Final = "mobile"
USERNAME: Final = "username"
SINGLE_KINDS: Final = (EMAIL, MOBILE, USERNAME)
"""Kinds of which a user has at most one credential."""


@dataclass(frozen=True, slots=True)
class BoundCredential:
    """A row of :data:`credentials`."""

    id: str
    user_id: str
    kind: str
    value: str
    created_at: int


credentials: Final = Table(
    "credentials",
    metadata,
    Column("id", Id, primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("kind", String(32), nullable=False),
    Column("value", Name, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    UniqueConstraint("kind", "value"),
    Index(None, "user_id"),
    # A user has one e-mail address, one mobile number and one username; other kinds may repeat.
    Index(
        "uq_credentials_user_id_kind",
        "user_id",
        "kind",
        unique=True,
        sqlite_where=text("kind IN ('email', 'mobile', 'username')"),
        postgresql_where=text("kind IN ('email', 'mobile', 'username')"),
    ),
)

passwords: Final = Table(
    "passwords",
    metadata,
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), primary_key=True),
    Column("hash", String(128), nullable=False),
    Column("changed_at", Timestamp, nullable=False),
)
