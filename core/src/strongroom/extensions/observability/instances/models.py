"""The table of the instances that serve."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import BigInteger, Column, String, Table, Text

from strongroom.foundation.database.metadata import Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper


@dataclass(frozen=True, slots=True)
class Instance:
    """A row of :data:`instances`.

    Args:
        name: the host and the port that it listens on.
        skew: how far its clock is ahead of the database's, in milliseconds; negative if it is behind.
        sections: JSON with the digest of each section of the configuration that all instances share.
    """

    name: str
    version: str
    seen_at: int
    skew: int
    sections: str


instances: Final = Table(
    "instances",
    metadata,
    Column("name", String(255), primary_key=True),
    Column("version", String(64), nullable=False),
    Column("seen_at", Timestamp, nullable=False),
    Column("skew", BigInteger, nullable=False),
    Column("sections", Text, nullable=False),
)

INSTANCE: Final = RowMapper(Instance, instances)
