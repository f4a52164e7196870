"""Requests that clients have pushed (RFC 9126): for one use within 60 seconds."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import and_, delete, insert, select

from strongroom.plugin_api.host import HostAPI
from strongroom_oidc_provider.models import pushed

PREFIX: Final = "urn:ietf:params:oauth:request_uri:"
SECONDS: Final = 60

_BYTES: Final = 32

Pairs = Sequence[tuple[str, str]]


@dataclass(slots=True, eq=False, repr=False)
class PushedRequests:
    """Stores requests, and consumes them. The table has the hashes of their URIs."""

    _host: HostAPI

    def store(self, client_id: str, parameters: Pairs) -> str:
        """Return the URI of a new request of a client."""
        uri, expires_at = PREFIX + secrets.token_urlsafe(_BYTES), self._host.clock.now() + SECONDS * 1000
        row = {"hash": _hash(uri), "client_id": client_id, "expires_at": expires_at}
        with self._host.database.write() as tx:
            tx.execute(insert(pushed), [{**row, "parameters": [list(pair) for pair in parameters]}])
        return uri

    def consume(self, uri: str, client_id: str) -> Pairs | None:
        """Return a request of a client, once; ``None`` if it is unknown, used or has expired."""
        ours = and_(pushed.c.hash == _hash(uri), pushed.c.client_id == client_id)
        is_live = pushed.c.expires_at > self._host.clock.now()
        with self._host.database.write() as tx:
            parameters = tx.scalar(select(pushed.c.parameters).where(ours, is_live))
            # Of concurrent uses, one deletes the row.
            if parameters is None or not tx.execute(delete(pushed).where(ours)):
                return None
        return [(name, value) for name, value in parameters]

    def prune(self) -> int:
        """Delete requests that have expired; return their number."""
        with self._host.database.write() as tx:
            return tx.execute(delete(pushed).where(pushed.c.expires_at <= self._host.clock.now()))


def _hash(uri: str) -> str:
    return hashlib.sha256(uri.encode()).hexdigest()
