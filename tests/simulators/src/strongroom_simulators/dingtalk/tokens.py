"""Access tokens of people and of apps, valid for two hours."""

import secrets
import threading
from collections.abc import Callable
from typing import Final

from strongroom_simulators.dingtalk.codes import Code
from strongroom_simulators.dingtalk.refusals import (
    BAD_TOKEN,
    OLD_BAD_TOKEN,
    OLD_TOKEN_EXPIRED,
    NewRefusal,
    OldRefusal,
)
from strongroom_simulators.dingtalk.registry import PlatformApp

LIFETIME: Final = 7200

Clock = Callable[[], float]


class PersonTokens:
    """Tokens that read the profile of one person, by an app."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._codes: dict[str, tuple[Code, float]] = {}

    def issue(self, code: Code) -> str:
        """Return a token for the person of a redeemed code."""
        token = secrets.token_hex(16)
        self._codes[token] = code, self._clock() + LIFETIME
        return token

    def check(self, token: str) -> Code:
        """Return the redeemed code of a token.

        Raises:
            NewRefusal: the token is unknown or expired.
        """
        code, expires_at = self._codes.get(token, (None, 0.0))
        if code is None or self._clock() >= expires_at:
            raise NewRefusal(BAD_TOKEN)
        return code


class AppTokens:
    """One token per app, returned to every caller until it expires or is withdrawn."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._current: dict[str, tuple[str, float]] = {}
        self._apps: dict[str, PlatformApp] = {}

    def get(self, app: PlatformApp) -> tuple[str, int]:
        """Return the app's token and its remaining lifetime in seconds."""
        with self._lock:
            token, expires_at = self._current.get(app.client_id, ("", 0.0))
            if self._clock() >= expires_at:
                token, expires_at = secrets.token_hex(16), self._clock() + LIFETIME
                self._current[app.client_id] = token, expires_at
                self._apps[token] = app
        return token, int(expires_at - self._clock())

    def withdraw(self, app: PlatformApp) -> None:
        """End the app's token before its expiry."""
        token, _ = self._current.pop(app.client_id, ("", 0.0))
        self._apps.pop(token, None)

    def check(self, token: str) -> PlatformApp:
        """Return the app of a token.

        Raises:
            OldRefusal: the token is unknown, withdrawn or expired.
        """
        app = self._apps.get(token)
        if app is None:
            raise OldRefusal(OLD_BAD_TOKEN)
        current, expires_at = self._current[app.client_id]
        if current != token or self._clock() >= expires_at:
            raise OldRefusal(OLD_TOKEN_EXPIRED)
        return app
