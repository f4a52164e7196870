"""The chain: each record carries a hash over itself and over the hash of the record before.

The hashes have no key. Whoever can write to the database can compute a chain anew, or cut off its end;
both show only against a link that was kept elsewhere.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from sqlalchemy import Connection, select

from strongroom.audit.models import audit_events
from strongroom.database.locks import lock_until_commit
from strongroom.database.statements import Statement

_LOCK: Final = 0x41554454
_LAST: Final = Statement(
    select(audit_events.c.sequence, audit_events.c.hash)
    .order_by(audit_events.c.sequence.desc())
    .limit(1)
)
_LINK = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Link:
    """A record's place in the chain, counted from 1, and its hash; as text ``SEQUENCE:HASH``."""

    sequence: int
    hash: str

    def __str__(self) -> str:
        return f"{self.sequence}:{self.hash}"

    @classmethod
    def parse(cls, link: str) -> Self:
        """Return the link that the text stands for.

        Raises:
            ValueError: it stands for none.
        """
        match = _LINK.fullmatch(link)
        if match is None:
            raise ValueError(f"{link!r} is not a sequence, a colon, and 64 hexadecimal digits")
        return cls(int(match[1]), match[2])


GENESIS: Final = Link(0, "0" * 64)
"""What stands before the first record."""


def chain_hash(previous: str, row: Mapping[str, object]) -> str:
    """Return the hash of a record: over the hash before it, and all of its own columns."""
    content = json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    # JSON can spell half a surrogate pair, which UTF-8 cannot.
    return hashlib.sha256(f"{previous}\n{content}".encode("utf-8", "surrogatepass")).hexdigest()


def lock_chain_head(connection: Connection) -> Link:
    """Return the last link; no other transaction can append to it before the caller's ends."""
    lock_until_commit(connection, _LOCK)
    last = _LAST.first(connection, {})
    return Link(*last) if last else GENESIS
