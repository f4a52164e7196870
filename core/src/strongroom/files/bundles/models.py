"""Table of bundle requests, so that an interrupted download can be resumed."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import JSON, Column, ForeignKey, Index, Table

from strongroom.database.metadata import Id, Name, Timestamp, metadata


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """A row of :data:`bundles`."""

    id: str
    tenant_id: str
    user_id: str
    name: str
    file_ids: list[str]
    expires_at: int


bundles: Final = Table(
    "bundles",
    metadata,
    Column("id", Id, primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("name", Name, nullable=False),
    Column("file_ids", JSON, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "expires_at"),
)
"""Only the request is stored; the content is queried on each download."""
