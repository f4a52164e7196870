"""Authorization codes: 256 random bits, for one use within 60 seconds."""

import hashlib
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import bindparam, delete, insert, select, update

from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.models import Code, codes

LIFETIME: Final = 60 * 1000
"""In milliseconds."""

_BYTES: Final = 32
# A code is kept for some time after its end, so that a second use of it ends the grant.
_KEPT: Final = 24 * 60 * 60 * 1000

# Built once: each login executes them, and constructing them costs more than that.
_OF_CLIENT: Final = select(codes).where(
    codes.c.hash == bindparam("hash"), codes.c.client_id == bindparam("client_id")
)
_USE: Final = (
    update(codes)
    .where(
        codes.c.hash == bindparam("code_hash"),
        codes.c.used_at.is_(None),
        codes.c.expires_at > bindparam("now"),
    )
    .values(used_at=bindparam("now"))
)
_SET_GRANT: Final = (
    update(codes).where(codes.c.hash == bindparam("code_hash")).values(grant_id=bindparam("grant"))
)
_REUSED_AT: Final = select(codes.c.reused_at).where(codes.c.hash == bindparam("hash"))


@dataclass(slots=True, eq=False, repr=False)
class Codes:
    """Issues and consumes codes. The table has their hashes."""

    _host: HostAPI

    def issue(self, values: Mapping[str, Any]) -> str:
        """Return a new code for a request that its user has accepted."""
        code, now = secrets.token_urlsafe(_BYTES), self._host.clock.now()
        row = {**values, "hash": _hash(code), "created_at": now, "expires_at": now + LIFETIME}
        with self._host.database.write() as tx:
            tx.execute(insert(codes), [row])
        return code

    def find(self, code: str, client_id: str) -> Code | None:
        """Return a code of a client, also a used one; ``None`` if it is unknown or has expired."""
        now = self._host.clock.now()
        with self._host.database.read() as tx:
            row = tx.first(_OF_CLIENT, {"hash": _hash(code), "client_id": client_id})
        if row is None or (row.used_at is None and row.expires_at <= now):
            return None
        return Code.from_row(row)

    def consume(self, code: Code) -> bool:
        """Return whether this is the first use of a code; a further one ends the grant."""
        now, ours = self._host.clock.now(), codes.c.hash == code.hash
        with self._host.database.write() as tx:
            if tx.execute(_USE, {"code_hash": code.hash, "now": now}):
                return True
            tx.execute(update(codes).where(ours).values(reused_at=now))
            grant_id = tx.scalar(select(codes.c.grant_id).where(ours))
        if grant_id is not None:
            self._host.grants.end(grant_id=grant_id)
        return False

    def set_grant(self, code: Code, grant_id: str) -> None:
        """Remember the grant of a code; a second use in the meantime has ended it."""
        with self._host.database.write() as tx:
            tx.execute(_SET_GRANT, {"code_hash": code.hash, "grant": grant_id})
            reused_at = tx.scalar(_REUSED_AT, {"hash": code.hash})
        if reused_at is not None:
            self._host.grants.end(grant_id=grant_id)

    def prune(self) -> int:
        """Delete codes that ended long ago; return their number."""
        before = self._host.clock.now() - _KEPT
        with self._host.database.write() as tx:
            return tx.execute(delete(codes).where(codes.c.expires_at <= before))


def _hash(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()
