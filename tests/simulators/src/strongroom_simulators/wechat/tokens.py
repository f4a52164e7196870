"""Access tokens of people and of apps."""

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final

from strongroom_simulators.limits import Limit
from strongroom_simulators.wechat.refusals import (
    DAILY_LIMIT,
    INVALID_REFRESH_TOKEN,
    INVALID_TOKEN,
    INVALID_USER_TOKEN,
    REFRESH_TOKEN_EXPIRED,
    TOKEN_EXPIRED,
    Refusal,
)
from strongroom_simulators.wechat.registry import Person, PlatformApp

HOUR: Final = 3600
DAY: Final = 24 * HOUR
ACCESS_LIFETIME: Final = 2 * HOUR
REFRESH_LIFETIME: Final = 30 * DAY
FORCED_A_DAY: Final = 20

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Holder:
    """The app, person and expiry of a token."""

    app: PlatformApp
    person: Person
    expires_at: float


class PersonTokens:
    """Access tokens, valid for two hours, and refresh tokens, valid for thirty days."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._access: dict[str, Holder] = {}
        self._refresh: dict[str, Holder] = {}

    def issue(self, app: PlatformApp, person: Person) -> dict[str, object]:
        """Issue tokens after a scan; return the token members of the response."""
        refresh_token = secrets.token_urlsafe(48)
        self._refresh[refresh_token] = Holder(app, person, self._clock() + REFRESH_LIFETIME)
        return self._answer(app, person, refresh_token)

    def refresh(self, app: PlatformApp, refresh_token: str) -> dict[str, object]:
        """Issue an access token; the refresh token and its expiry do not change."""
        holder = self._refresh.get(refresh_token)
        if holder is None or holder.app is not app:
            raise Refusal(INVALID_REFRESH_TOKEN)
        if self._clock() >= holder.expires_at:
            raise Refusal(REFRESH_TOKEN_EXPIRED)
        return self._answer(app, holder.person, refresh_token)

    def holder(self, access_token: str) -> Holder:
        """Return the holder of an access token.

        Raises:
            Refusal: the token is unknown or expired.
        """
        holder = self._access.get(access_token)
        if holder is None:
            raise Refusal(INVALID_USER_TOKEN)
        if self._clock() >= holder.expires_at:
            raise Refusal(TOKEN_EXPIRED)
        return holder

    def _answer(self, app: PlatformApp, person: Person, refresh_token: str) -> dict[str, object]:
        access_token = secrets.token_urlsafe(48)
        self._access[access_token] = Holder(app, person, self._clock() + ACCESS_LIFETIME)
        return {
            "access_token": access_token,
            "expires_in": ACCESS_LIFETIME,
            "refresh_token": refresh_token,
            "openid": app.openid(person),
            "scope": "snsapi_login",
        }


class AppTokens:
    """One token per app, returned to every caller until it expires or a refresh is forced."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._current: dict[str, tuple[str, float]] = {}
        self._past: set[str] = set()
        self._forced = Limit(FORCED_A_DAY, DAY, partial(Refusal, DAILY_LIMIT), clock)

    def get(self, app: PlatformApp, *, force: bool) -> dict[str, object]:
        """Return the app's token and its remaining lifetime in seconds."""
        with self._lock:
            if force:
                self._forced.hit(app.appid)
            token, expires_at = self._current.get(app.appid, ("", 0.0))
            if force or self._clock() >= expires_at:
                self._past.add(token)
                token, expires_at = secrets.token_urlsafe(64), self._clock() + ACCESS_LIFETIME
                self._current[app.appid] = token, expires_at
        return {"access_token": token, "expires_in": int(expires_at - self._clock())}

    def check(self, token: str) -> str:
        """Return the appid of a token.

        Raises:
            Refusal: the token is unknown, replaced or expired.
        """
        for appid, (current, expires_at) in self._current.items():
            if current == token and self._clock() < expires_at:
                return appid
        known = token in self._past or token in dict(self._current.values())
        raise Refusal(TOKEN_EXPIRED if known else INVALID_TOKEN)
