"""ID tokens: what they must say (OpenID Connect Core 1.0, section 3.1.3.7)."""

import base64
import hashlib
import hmac
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from strongroom_login_oauth.errors import AnswerInvalid
from strongroom_login_oidc.keys import ProviderKeys
from strongroom_login_oidc.tokens import SignedToken, open_token

SLACK: Final = 60
"""Seconds by which the clocks of the provider and of this server may differ."""

MAX_AGE: Final = 24 * 60 * 60
"""Seconds since which an ID token may have been issued. Providers issue it with the answer."""

MAX_SUBJECT: Final = 255
"""Bytes of ``sub`` (OpenID Connect Core 1.0, section 2)."""

Claims = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Login:
    """The login that an ID token must belong to.

    Args:
        nonce: the one of the request.
        access_token: the one that came with the ID token.
        now: the time in seconds.
        max_age: seconds since which the person may have logged in at the provider; ``None``: any.
    """

    client_id: str
    nonce: str
    access_token: str
    now: float
    max_age: int | None = None


def verify_id_token(token: str, keys: ProviderKeys, algorithms: Collection[str], login: Login) -> Claims:
    """Return the claims of an ID token, all checked but its issuer.

    Raises:
        AnswerInvalid: it is not signed by the provider, or belongs to another login.
        ProviderUnavailable: the provider's keys cannot be fetched now.
    """
    signed = open_token(token, keys, algorithms)
    _check_type(signed)
    check_audience(signed.claims, login.client_id)
    check_times(signed.claims, login.now)
    _check_nonce(signed.claims, login.nonce)
    _check_access_token(signed, login.access_token)
    if login.max_age is not None:
        _check_authentication(signed.claims, login.now, login.max_age)
    read_subject(signed.claims)
    return signed.claims


def check_issuer(claims: Claims, issuer: str) -> None:
    """Require that a token is one of an issuer, compared as text (section 3.1.3.7, 2)."""
    if claims.get("iss") != issuer:
        raise AnswerInvalid("the token is one of another issuer")


def read_subject(claims: Claims) -> str:
    """Return ``sub``: the person's id, which is compared as it is (section 2).

    Raises:
        AnswerInvalid: it is absent, empty, too long, or has control characters.
    """
    subject = claims.get("sub")
    if not isinstance(subject, str) or not 0 < len(subject.encode()) <= MAX_SUBJECT:
        raise AnswerInvalid("sub is no text of 1 to 255 bytes")
    if any(character < " " or character == "\x7f" for character in subject):
        raise AnswerInvalid("sub has control characters")
    return subject


def _check_type(signed: SignedToken) -> None:
    # Access tokens (at+jwt) and logout tokens (logout+jwt) have the same issuer and keys.
    if signed.type not in (None, "jwt"):
        raise AnswerInvalid("the token is of another type")


def check_audience(claims: Claims, client_id: str) -> None:
    """Require that a token is for this client (section 3.1.3.7, 3 to 5)."""
    audience = claims.get("aud")
    audiences = [audience] if isinstance(audience, str) else audience
    if not isinstance(audiences, list) or client_id not in audiences:
        raise AnswerInvalid("the token is for another client")
    if len(audiences) > 1 and "azp" not in claims:
        raise AnswerInvalid("the token is for several clients, and azp names none")
    if claims.get("azp", client_id) != client_id:
        raise AnswerInvalid("the token was issued to another client")


def check_times(claims: Claims, now: float) -> None:
    """Require that a token is valid now (section 3.1.3.7, 9 and 10). The time is in seconds."""
    expires, issued = read_time(claims, "exp"), read_time(claims, "iat")
    if expires <= now - SLACK:
        raise AnswerInvalid("the token has expired")
    if not now - MAX_AGE <= issued <= now + SLACK:
        raise AnswerInvalid("the token was issued in the future, or too long ago")
    if "nbf" in claims and read_time(claims, "nbf") > now + SLACK:
        raise AnswerInvalid("the token is not valid yet")


def _check_nonce(claims: Claims, nonce: str) -> None:
    value = claims.get("nonce")
    if not isinstance(value, str) or not hmac.compare_digest(value.encode(), nonce.encode()):
        raise AnswerInvalid("the token belongs to another login: its nonce differs")


def _check_access_token(signed: SignedToken, access_token: str) -> None:
    """Check ``at_hash``, which ties the two tokens of an answer (section 3.1.3.6)."""
    if "at_hash" not in signed.claims:
        return
    value = signed.claims["at_hash"]
    expected = half_hash(signed.algorithm, access_token)
    if not isinstance(value, str) or not hmac.compare_digest(value.encode(), expected.encode()):
        raise AnswerInvalid("the ID token belongs to another access token")


def half_hash(algorithm: str, token: str) -> str:
    """Return the left half of a token's hash, by the signature algorithm's function, as base64url."""
    # EdDSA by Ed25519 uses SHA-512.
    name = f"sha{algorithm[2:]}" if algorithm[2:].isdigit() else "sha512"
    digest = hashlib.new(name, token.encode()).digest()
    return base64.urlsafe_b64encode(digest[: len(digest) // 2]).rstrip(b"=").decode()


def _check_authentication(claims: Claims, now: float, max_age: int) -> None:
    at = read_time(claims, "auth_time")
    if not now - max_age - SLACK <= at <= now + SLACK:
        raise AnswerInvalid("the person has logged in at the provider too long ago")


def read_time(claims: Claims, name: str) -> float:
    """Return a time of a token in seconds since the Unix epoch.

    Raises:
        AnswerInvalid: it is absent, or no number.
    """
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise AnswerInvalid(f"{name} is no time")
    return value
