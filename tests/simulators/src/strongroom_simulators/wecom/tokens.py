"""Access tokens of apps, valid for two hours."""

import secrets
import threading
from collections.abc import Callable
from typing import Final

from strongroom_simulators.limits import Limit
from strongroom_simulators.wecom.refusals import (
    INVALID_TOKEN,
    MISSING_TOKEN,
    TOKEN_EXPIRED,
    TOO_OFTEN,
    Refusal,
)
from strongroom_simulators.wecom.registry import PlatformApp

LIFETIME: Final = 7200
TOKENS_A_MINUTE: Final = 60


class AppTokens:
    """One token per app, returned to every caller until it expires or is withdrawn."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._current: dict[tuple[str, int], tuple[str, float]] = {}
        self._apps: dict[str, tuple[PlatformApp, float]] = {}
        self.limit = Limit(TOKENS_A_MINUTE, 60, lambda: Refusal(TOO_OFTEN), clock)

    def get(self, app: PlatformApp) -> dict[str, object]:
        """Return the app's token and its remaining lifetime in seconds.

        Raises:
            Refusal: too many requests of the app within a minute.
        """
        key = app.corpid, app.agentid
        self.limit.hit(key)
        with self._lock:
            token, expires_at = self._current.get(key, ("", 0.0))
            if self._clock() >= expires_at:
                token, expires_at = secrets.token_urlsafe(160), self._clock() + LIFETIME
                self._current[key] = token, expires_at
                self._apps[token] = app, expires_at
        return {"access_token": token, "expires_in": int(expires_at - self._clock())}

    def withdraw(self, app: PlatformApp) -> None:
        """End the app's token before its expiry."""
        token, _ = self._current.pop((app.corpid, app.agentid), ("", 0.0))
        self._apps.pop(token, None)

    def app(self, token: str) -> PlatformApp:
        """Return the app of a token.

        Raises:
            Refusal: the token is missing, unknown, withdrawn or expired.
        """
        if not token:
            raise Refusal(MISSING_TOKEN)
        app, expires_at = self._apps.get(token, (None, 0.0))
        if app is None:
            raise Refusal(INVALID_TOKEN)
        if self._clock() >= expires_at:
            raise Refusal(TOKEN_EXPIRED)
        return app
