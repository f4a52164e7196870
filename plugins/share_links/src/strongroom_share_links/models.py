"""The tables of shares, and of what visitors do with them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    select,
)
from sqlalchemy.dialects import postgresql, sqlite

from strongroom.plugin_api.state import Transaction

metadata: Final = MetaData()

links: Final = Table(
    "share_links_links",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(36), nullable=False),
    Column("file_id", String(36), nullable=False),
    Column("maker_id", String(36), nullable=False),
    Column("kind", String(16), nullable=False),
    # SHA-256, because the secret is random. The sealed copy is for the creator, if the options allow it.
    Column("secret_hash", String(64), nullable=False),
    Column("sealed_secret", Text),
    Column("label", String(255), nullable=False),
    Column("password_hash", String(255)),
    Column("expires_at", BigInteger),
    Column("max_downloads", Integer),
    Column("downloads", Integer, nullable=False),
    Column("audience", String(16), nullable=False),
    Column("notify", Boolean, nullable=False),
    # Settings of drop boxes; the counts include uploads that have begun.
    Column("max_bytes", BigInteger),
    Column("max_files", Integer),
    Column("allowed_types", JSON, nullable=False),
    Column("require_name", Boolean, nullable=False),
    Column("layout", String(16), nullable=False),
    Column("dropped_files", Integer, nullable=False),
    Column("dropped_bytes", BigInteger, nullable=False),
    Column("opened_at", BigInteger),
    Column("revision", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    # The access key by which the share was made or loosened, and with which it ends.
    Column("key_id", String(36)),
    Column("closed_at", BigInteger),
    # The last change of the tenant's files before which restores of the file are known. NULL in shares
    # that are older than the column.
    Column("checked_sequence", BigInteger),
    Index("share_links_links_secret", "secret_hash", unique=True),
    Index("share_links_links_file", "tenant_id", "file_id"),
    Index("share_links_links_maker", "maker_id"),
    Index("share_links_links_end", "expires_at"),
)

recipients: Final = Table(
    "share_links_people",
    metadata,
    Column("link_id", String(36), primary_key=True),
    Column("user_id", String(36), primary_key=True),
    Index("share_links_people_user", "user_id"),
)
"""The users in the audience of a share with the audience ``users``."""

access_log: Final = Table(
    "share_links_openings",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("link_id", String(36), nullable=False),
    Column("at", BigInteger, nullable=False),
    Column("what", String(16), nullable=False),
    Column("address", String(64), nullable=False),
    Column("file_id", String(36)),
    Column("name", String(255)),
    Column("size", BigInteger),
    Column("uploaded_by", String(100)),
    Index("share_links_openings_link", "link_id", "at"),
    Index("share_links_openings_age", "at"),
)

downloads: Final = Table(
    "share_links_downloads",
    metadata,
    # SHA-256 of the value in the visitor's cookie.
    Column("id", String(64), primary_key=True),
    # Of the address and the User-Agent, for clients without cookies.
    Column("visitor_hash", String(64)),
    Column("link_id", String(36), nullable=False),
    Column("item", String(36), nullable=False),
    Column("tag", String(128), nullable=False),
    Column("remaining", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index("share_links_downloads_age", "expires_at"),
    Index("share_links_downloads_link", "link_id"),
)
"""Counted downloads that their visitor may continue by ranges."""

uploads: Final = Table(
    "share_links_uploads",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("link_id", String(36), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("uploaded_by", String(100)),
    Column("file_id", String(36)),
    Column("created_at", BigInteger, nullable=False),
    Index("share_links_uploads_link", "link_id"),
    Index("share_links_uploads_age", "created_at"),
)
"""Resumable uploads of visitors. All belong to the creator, so this maps each to its share.

``size`` is the number of bytes that the upload takes of the drop box; 0 before its first bytes, when it
takes no file either.
"""

folders: Final = Table(
    "share_links_folders",
    metadata,
    Column("link_id", String(36), primary_key=True),
    Column("visitor", String(100), primary_key=True),
    Column("folder_id", String(36), nullable=False),
)
"""The folders of visitors in drop boxes with the layout ``by-visitor``."""

policies: Final = Table(
    "share_links_policies",
    metadata,
    Column("tenant_id", String(36), primary_key=True),
    Column("enabled", Boolean),
    Column("kinds", JSON),
    Column("max_lifetime_days", Integer),
    Column("password", String(16)),
    Column("who", String(16)),
)


def upsert(transaction: Transaction, table: Table, row: Mapping[str, Any]) -> None:
    """Insert a row, or replace the one with the same primary key; safe against concurrent calls."""
    make = {"sqlite": sqlite.insert, "postgresql": postgresql.insert}[transaction.dialect]
    keys = [column.name for column in table.primary_key]
    others = {name: value for name, value in row.items() if name not in keys}
    statement: Any = make(table).values(**row)
    transaction.execute(statement.on_conflict_do_update(index_elements=keys, set_=others))


def lock(transaction: Transaction, link_ids: Sequence[str]) -> None:
    """Lock shares before their records change.

    All transactions lock in this order, because the other one would be a deadlock.
    """
    locked = select(links.c.id).where(links.c.id.in_(link_ids)).order_by(links.c.id)
    transaction.all(locked.with_for_update())


class Kind(StrEnum):
    """What a share allows its visitors."""

    READ = "read"
    PREVIEW = "preview"
    FILE_REQUEST = "drop"
    WRITE = "write"


READERS: Final = (Kind.READ, Kind.WRITE)
SHOWN: Final = (Kind.READ, Kind.WRITE, Kind.PREVIEW)
RECEIVERS: Final = (Kind.FILE_REQUEST, Kind.WRITE)


class Audience(StrEnum):
    """Who may open a share, given its secret."""

    ANYONE = "anyone"
    LOGGED_IN = "logged-in"
    MEMBERS = "members"
    USERS = "users"


class Layout(StrEnum):
    """Where dropped files are stored."""

    FLAT = "flat"
    BY_VISITOR = "by-visitor"


_COLUMNS: Final = {"creator_id": "maker_id"}
"""The columns with another name than the member: tables keep their names across versions."""


@dataclass(frozen=True, slots=True)
class Link:
    """A share. ``remaining`` is the number of downloads left, ``None`` without a limit."""

    id: str
    tenant_id: str
    file_id: str
    creator_id: str
    kind: str
    sealed_secret: str | None
    label: str
    password_hash: str | None
    expires_at: int | None
    max_downloads: int | None
    downloads: int
    audience: str
    notify: bool
    max_bytes: int | None
    max_files: int | None
    allowed_types: tuple[str, ...]
    require_name: bool
    layout: str
    dropped_files: int
    dropped_bytes: int
    opened_at: int | None
    revision: int
    created_at: int
    updated_at: int
    key_id: str | None
    closed_at: int | None
    checked_sequence: int | None

    @property
    def is_exhausted(self) -> bool:
        """Whether all downloads, or all files of the drop box, are consumed."""
        no_downloads = self.max_downloads is not None and self.downloads >= self.max_downloads
        no_files = self.max_files is not None and self.dropped_files >= self.max_files
        return no_downloads or no_files

    @classmethod
    def from_row(cls, row: Any) -> "Link":
        """Return the share of a row."""
        values = {name: getattr(row, _COLUMNS.get(name, name)) for name in cls.__slots__}
        return cls(**{**values, "allowed_types": tuple(row.allowed_types)})

    @property
    def columns(self) -> dict[str, Any]:
        """The values of the columns, without the hash of the secret."""
        values = {_COLUMNS.get(name, name): getattr(self, name) for name in self.__slots__}
        return {**values, "allowed_types": list(self.allowed_types)}
