"""Access tokens of people and of apps."""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from strongroom_simulators.feishu.refusals import (
    INVALID_APP_TOKEN,
    INVALID_USER_TOKEN,
    USER_TOKEN_EXPIRED,
    Refusal,
)
from strongroom_simulators.feishu.registry import Person, PlatformApp

LIFETIME: Final = 7200
"""Seconds."""
RENEWAL: Final = 1800
"""Seconds before its end from which an app gets a further token."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The app, person, scopes and expiry of a token."""

    app: PlatformApp
    person: Person
    scopes: frozenset[str]
    expires_at: float


class UserTokens:
    """The tokens of people."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._holders: dict[str, Holder] = {}

    def issue(self, app: PlatformApp, person: Person, scopes: frozenset[str]) -> str:
        """Return a new token."""
        token = f"u-{secrets.token_urlsafe(64)}"
        self._holders[token] = Holder(app, person, scopes, self._clock() + LIFETIME)
        return token

    def holder(self, token: str) -> Holder:
        """Return the holder of a token.

        Raises:
            Refusal: the token is unknown or expired.
        """
        holder = self._holders.get(token)
        if holder is None:
            raise Refusal(INVALID_USER_TOKEN)
        if self._clock() >= holder.expires_at:
            raise Refusal(USER_TOKEN_EXPIRED)
        return holder


class AppTokens:
    """The tokens of apps; an app gets the same one until it ends within half an hour."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._tokens: dict[str, tuple[PlatformApp, float]] = {}

    def issue(self, app: PlatformApp) -> tuple[str, int]:
        """Return the app's token and its remaining lifetime in seconds."""
        with self._lock:
            now = self._clock()
            for token, (owner, expires_at) in self._tokens.items():
                if owner is app and expires_at - now >= RENEWAL:
                    return token, int(expires_at - now)
            token = f"t-{secrets.token_urlsafe(64)}"
            self._tokens[token] = app, now + LIFETIME
            return token, LIFETIME

    def revoke(self) -> None:
        """End all tokens, as a new secret of the app does."""
        with self._lock:
            self._tokens.clear()

    def app(self, token: str) -> PlatformApp:
        """Return the app of a token.

        Raises:
            Refusal: the token is unknown or expired.
        """
        app, expires_at = self._tokens.get(token, (None, 0.0))
        if app is None or self._clock() >= expires_at:
            raise Refusal(INVALID_APP_TOKEN)
        return app
