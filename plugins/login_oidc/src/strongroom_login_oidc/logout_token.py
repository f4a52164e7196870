"""Logout tokens, by which providers report ended sessions (OpenID Connect Back-Channel Logout 1.0)."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final

from strongroom_login_oauth.errors import AnswerInvalid
from strongroom_login_oidc.id_token import (
    SLACK,
    Claims,
    check_audience,
    check_times,
    read_subject,
    read_time,
)
from strongroom_login_oidc.keys import ProviderKeys
from strongroom_login_oidc.tokens import SignedToken, open_token

EVENT: Final = "http://schemas.openid.net/event/backchannel-logout"
MAX_AGE: Final = 600
"""Seconds since which a logout token may have been issued. Providers recommend two minutes."""

MAX_ID: Final = 255
"""Characters of ``sid`` and ``jti``."""

_TYPES: Final = (None, "jwt", "logout+jwt")


@dataclass(frozen=True, slots=True)
class LogoutToken:
    """A verified logout token, of which only the issuer is not checked.

    Args:
        session: ``sid``; ``None``: all sessions of the person.
        has_subject: whether it names the person.
        id: ``jti``, which counts once.
        ends_at: until when it could be sent again, in seconds since the Unix epoch.
    """

    claims: Claims
    session: str | None
    has_subject: bool
    id: str
    ends_at: float


def verify_logout_token(
    token: str, keys: ProviderKeys, algorithms: Collection[str], client_id: str, now: float
) -> LogoutToken:
    """Verify a logout token as section 2.6 of the specification does.

    Raises:
        AnswerInvalid: it is forged, too old, for another client, or no logout token.
        ProviderUnavailable: the provider's keys cannot be fetched now.
    """
    signed = open_token(token, keys, algorithms)
    claims = signed.claims
    _check_kind(signed)
    check_audience(claims, client_id)
    check_times(claims, now)
    issued_at = read_time(claims, "iat")
    if issued_at < now - MAX_AGE:
        raise AnswerInvalid("the logout token was issued too long ago")
    session = _text(claims, "sid") if "sid" in claims else None
    if "sub" in claims:
        read_subject(claims)
    elif session is None:
        raise AnswerInvalid("the logout token has neither sub nor sid")
    ends_at = issued_at + MAX_AGE + SLACK
    return LogoutToken(claims, session, "sub" in claims, _text(claims, "jti"), ends_at)


def _check_kind(signed: SignedToken) -> None:
    """Refuse tokens for another purpose, which have the same issuer and keys."""
    if signed.type not in _TYPES:
        raise AnswerInvalid("the token is of another type")
    events = signed.claims.get("events")
    if not isinstance(events, Mapping) or not isinstance(events.get(EVENT), Mapping):
        raise AnswerInvalid("events of the token names no logout")
    # ID tokens have one, so none of them is a logout token (section 2.4).
    if "nonce" in signed.claims:
        raise AnswerInvalid("a logout token has no nonce")


def _text(claims: Claims, name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not 0 < len(value) <= MAX_ID or "\0" in value:
        raise AnswerInvalid(f"{name} is no text of 1 to {MAX_ID} characters")
    return value
