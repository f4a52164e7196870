"""The hash chain: each record contains a hash of its content and of the previous record's hash.

The hashes have no key. An attacker with write access to the database can recompute the whole chain or
remove its newest records. Both are detected only by comparison with a link that was stored elsewhere.
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
    """The sequence number of a record, counted from 1, and its hash; as text ``SEQUENCE:HASH``."""

    sequence: int
    hash: str

    def __str__(self) -> str:
        return f"{self.sequence}:{self.hash}"

    @classmethod
    def parse(cls, link: str) -> Self:
        """Parse ``SEQUENCE:HASH``.

        Raises:
            ValueError: the text has another format.
        """
        match = _LINK.fullmatch(link)
        if match is None:
            raise ValueError(f"{link!r} is not a sequence, a colon, and 64 hexadecimal digits")
        return cls(int(match[1]), match[2])


GENESIS: Final = Link(0, "0" * 64)
"""The link before the first record."""


def chain_hash(previous: str, row: Mapping[str, object]) -> str:
    """Return the SHA-256 of the previous hash and all columns of a record, in hexadecimal digits."""
    # Sorted keys and fixed separators: the verifier must get the same bytes from the stored row.
    content = json.dumps(row, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    # JSON text may contain a lone surrogate, which strict UTF-8 cannot encode.
    return hashlib.sha256(f"{previous}\n{content}".encode("utf-8", "surrogatepass")).hexdigest()


def lock_chain_head(connection: Connection) -> Link:
    """Lock the chain until the caller's transaction ends, and return its last link."""
    lock_until_commit(connection, _LOCK)
    last = _LAST.first(connection, {})
    return Link(*last) if last else GENESIS
