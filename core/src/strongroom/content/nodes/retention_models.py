"""Tables of holds and of retention settings, and the rules that follow from them."""

from enum import StrEnum
from typing import Final, NamedTuple

from sqlalchemy import Column, ForeignKey, Index, Integer, String, Table

from strongroom.clock import DAY
from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper


class RetentionMode(StrEnum):
    """Whether administrators may override retention: with a reason, or not at all."""

    GOVERNANCE = "governance"
    COMPLIANCE = "compliance"


class Hold(NamedTuple):
    """A row of :data:`node_holds`. ``until`` is ``None`` for a hold without an end."""

    node_id: str
    tenant_id: str
    reason: str
    until: int | None
    placed_by: str
    placed_at: int


class RetentionSettings(NamedTuple):
    """How long deleted files and earlier contents are kept, and what may not be removed sooner.

    Args:
        trash_days: days after which entries of the trash are removed.
        keep_versions: the number of versions of a file that are kept.
        version_days: days after which versions are removed.
        minimum_days: days after its last change before which no content is removed; 0: none.
        mode: whether administrators may override ``minimum_days``.
    """

    trash_days: int
    keep_versions: int
    version_days: int
    minimum_days: int
    mode: RetentionMode

    def purge_at(self, trashed_at: int) -> int:
        """Return when an entry of the trash is due for removal, in milliseconds since the Unix epoch."""
        return trashed_at + max(self.trash_days, self.minimum_days) * DAY


class RetentionRules(NamedTuple):
    """The rules of a tenant, and whether it has holds.

    ``now`` is the time of the retention clock in milliseconds since the Unix epoch; 0: it never ran.
    """

    settings: RetentionSettings
    now: int
    has_holds: bool

    @property
    def is_compliance(self) -> bool:
        """Whether no user may override it."""
        return self.settings.mode is RetentionMode.COMPLIANCE

    def retained_until(self, changed_at: int) -> int | None:
        """Return until when content that was changed at a time is retained; ``None``: not now."""
        until = changed_at + self.settings.minimum_days * DAY
        return until if self.settings.minimum_days and until > self.now else None


node_holds: Final = Table(
    "node_holds",
    metadata,
    Column("node_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
    Column("tenant_id", Id, nullable=False),
    Column("reason", Name, nullable=False),
    Column("until", Timestamp),
    Column("placed_by", Id, nullable=False),
    Column("placed_at", Timestamp, nullable=False),
    Index(None, "tenant_id"),
)
"""Legal holds. A hold covers the node and its subtree. It is compared with the retention clock, so a
row may remain after its end."""

HOLD: Final = RowMapper(Hold, node_holds)

tenant_retention: Final = Table(
    "tenant_retention",
    metadata,
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True),
    Column("trash_days", Integer),
    Column("keep_versions", Integer),
    Column("version_days", Integer),
    Column("minimum_days", Integer, nullable=False),
    Column("mode", String(16), nullable=False),
)
"""Retention settings of tenants. NULL is the setting of the server."""

retention_clock: Final = Table(
    "retention_clock",
    metadata,
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("now", Timestamp, nullable=False),
    Column("compliance_days", Integer),
)
"""One row, the high-water mark of the time that ends retention; see :class:`RetentionClock`.

``compliance_days`` is the longest minimum that the server was ever configured with in compliance mode,
so a changed configuration does not end it."""
