"""Signs and verifies statements for other services, such as ID tokens: never access tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from joserfc.errors import JoseError

from strongroom.clock import Clock
from strongroom.foundation.ids import new_id
from strongroom.foundation.plugins.plugin_validation import token_type_fault
from strongroom.identity.sessions.signed_tokens import read_signed, sign_token
from strongroom.identity.sessions.signing_keys import STATEMENT_LIFETIME, KeyFile, KeyRing

MAX_LENGTH: Final = 16_384
_RESERVED: Final = frozenset({"iss", "aud", "iat", "exp", "jti", "sub"})


@dataclass(slots=True, eq=False, repr=False)
class StatementSigner:
    """Signs statements by the newest asymmetric key, whatever signs the server's own access tokens.

    Args:
        issuer: the server's public URL, which is the audience of no statement.
    """

    _keys: KeyFile
    issuer: str
    _clock: Clock

    def sign(
        self, claims: Mapping[str, Any], *, audience: str, lifetime: int, typ: str, subject: str | None
    ) -> str:
        """Return a signed statement.

        Args:
            lifetime: in seconds.

        Raises:
            ValueError: see :meth:`~strongroom.plugin_api.signing.SigningAPI.sign`.
            KeyRingError: there is no asymmetric key.
        """
        self._require_foreign(audience, typ)
        if reserved := sorted(_RESERVED & claims.keys()):
            raise ValueError(f"the server sets the claim {reserved[0]}")
        if not 0 < lifetime * 1000 <= STATEMENT_LIFETIME:
            raise ValueError(f"the lifetime must be 1 to {STATEMENT_LIFETIME // 1000} seconds")
        issued_at = self._clock.now() // 1000
        own_claims = {"iss": self.issuer, "aud": audience, "iat": issued_at, "exp": issued_at + lifetime}
        subjects = {} if subject is None else {"sub": subject}
        return sign_public(self._keys.ring(), typ, {**claims, **own_claims, "jti": new_id(), **subjects})

    def verify(self, token: str, *, audience: str | None, typ: str, expired: bool) -> dict[str, Any]:
        """Return the claims of a statement.

        Args:
            audience: ``None``: any.
            expired: whether it may have expired.

        Raises:
            ValueError: this server has not signed it, it is for another audience, or it has expired.
        """
        claims = verify_public(self._keys.ring(), token, typ)
        self._require_foreign(claims.get("aud"), typ)
        if claims.get("iss") != self.issuer or audience not in (None, claims["aud"]):
            raise ValueError("the token is for another audience")
        if not expired and claims["exp"] * 1000 <= self._clock.now():
            raise ValueError("the token has expired")
        return claims

    def _require_foreign(self, audience: Any, typ: str) -> None:
        """Require that a statement cannot pass for an access token of this server."""
        if not isinstance(audience, str) or audience == self.issuer:
            raise ValueError("the audience must be another service")
        if fault := token_type_fault(typ):
            raise ValueError(f"{typ!r}: {fault}")


def sign_public(ring: KeyRing, typ: str, claims: Mapping[str, Any]) -> str:
    """Return a token that other services verify by the public keys.

    Raises:
        KeyRingError: there is no asymmetric key.
    """
    return sign_token(ring.statement_key(), typ, claims)


def verify_public(ring: KeyRing, token: str, typ: str) -> dict[str, Any]:
    """Return the claims of a token from :func:`sign_public`, which may have expired.

    Raises:
        ValueError: the server has not signed it.
    """
    try:
        # A secret key has signed nothing for other services, even if its id is in the header.
        claims = read_signed(token, typ, ring.find_public, max_length=MAX_LENGTH)
    # RecursionError: deeply nested JSON in the header or the claims.
    except (JoseError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError("the token is not signed by this server") from error
    if type(claims.get("exp")) is not int:
        raise ValueError("the token has no expiry")
    return claims
