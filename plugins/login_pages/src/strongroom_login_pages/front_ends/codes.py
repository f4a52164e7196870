"""Login codes: they hand the tokens of a login over to the front end that requested it.

An authorization code with PKCE (RFC 7636) in all but the name: a URL carries only the code, which is
valid once, for a minute, and only with the secret that the front end has kept in its own browser tab.
"""

import json
import secrets
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final

from sqlalchemy import delete, insert

from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.state import Transaction
from strongroom_login_pages.front_ends.models import codes

LIFETIME: Final = 60_000
"""Milliseconds within which a code must be exchanged."""


@dataclass(slots=True, eq=False, repr=False)
class LoginCodes:
    """Issues and redeems login codes."""

    _host: HostAPI

    def issue(self, tokens: dict[str, Any], code_challenge: str) -> str:
        """Store the tokens of a login, and return the code for them."""
        code = secrets.token_urlsafe(32)
        row = {
            "hash": _digest(code),
            "code_challenge": code_challenge,
            "sealed_tokens": self._host.secrets.seal(json.dumps(tokens)),
            "expires_at": self._host.clock.now() + LIFETIME,
            "user_id": tokens["user"]["id"],
        }
        with self._host.database.write() as transaction:
            transaction.execute(insert(codes), row)
        return code

    def consume(self, code: str, verifier: str) -> dict[str, Any] | None:
        """Consume a code and return its tokens, or ``None`` if code or verifier is wrong."""
        # One DELETE finds and consumes the code, so only one of parallel requests succeeds. A wrong
        # verifier consumes it, too, because only a thief has a code without its verifier.
        statement = (
            delete(codes)
            .where(codes.c.hash == _digest(code), codes.c.expires_at > self._host.clock.now())
            .returning(codes.c.code_challenge, codes.c.sealed_tokens)
        )
        with self._host.database.write() as transaction:
            row = transaction.first(statement)
        if row is None or not compare_digest(row.code_challenge, challenge_of(verifier)):
            return None
        tokens: dict[str, Any] = json.loads(self._host.secrets.unseal(row.sealed_tokens))
        return tokens

    def deactivate(self, transaction: Transaction, ended: Deactivation) -> None:
        """Delete the codes of a user whose logins end."""
        if ended.is_of_account:
            transaction.execute(delete(codes).where(codes.c.user_id == ended.user_id))

    def prune(self) -> int:
        """Delete the codes that were not redeemed in time, and return their number."""
        with self._host.database.write() as transaction:
            return transaction.execute(delete(codes).where(codes.c.expires_at <= self._host.clock.now()))


def challenge_of(verifier: str) -> str:
    """Return the ``S256`` code challenge of a verifier (RFC 7636, section 4.2)."""
    digest = sha256(verifier.encode("utf-8", "replace")).digest()
    return urlsafe_b64encode(digest).decode().rstrip("=")


def _digest(code: str) -> str:
    # 256 random bits cannot be guessed, so the hash needs no key.
    return sha256(code.encode("utf-8", "replace")).hexdigest()
