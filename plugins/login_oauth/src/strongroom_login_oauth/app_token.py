"""The access token of an app, as opposed to a person's: one for all workers and nodes."""

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from strongroom.plugin_api.host import Clock
from strongroom.plugin_api.state import ValueStore
from strongroom_login_oauth.errors import ProviderUnavailable, TokenRefused

RENEWAL_MARGIN: Final = 120
"""Seconds before its end at which a token is renewed."""

FETCH_SECONDS: Final = 20
"""How long one process may fetch a token while the others wait; then another one tries."""

MAX_LIFE: Final = 86_400
"""Seconds for which a token is kept at most, whatever the platform says."""

_PAUSE: Final = 0.05

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True)
class Token:
    """A token of an app.

    Args:
        value: the token.
        seconds: the seconds until its end.
    """

    value: str = field(repr=False)
    seconds: int


@dataclass(frozen=True, slots=True)
class _Stored:
    value: str = field(repr=False)
    renew_at: int


class AppToken:
    """An app's token, renewed before its end, and replaced once after a refusal. Thread-safe.

    The token is encrypted in the shared values, so all workers and nodes send the same one: platforms
    limit how often an app may fetch a token, and some end the former token when they issue a new one.

    Args:
        key: the key of the value, unique for the app, such as ``token.APPID``; without secrets.
        fetch: sends the request for a new token.
        renew: sends the request for another token where ``fetch`` returns the same one until its end;
            called once for a refused token that ``fetch`` still returns.
        values: returns the shared values; usually ``lambda: login.host.values``.
        clock: returns the clock; usually ``lambda: login.host.clock``.
        sleep: pauses while another process fetches the token; argument in seconds.
    """

    def __init__(
        self,
        key: str,
        fetch: Callable[[], Token],
        *,
        values: Callable[[], ValueStore],
        clock: Callable[[], Clock],
        renew: Callable[[], Token] | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._key, self._fetch, self._renew = key, fetch, renew
        self._values, self._clock, self._sleep = values, clock, sleep
        # One thread of each process waits for other processes.
        self._lock = threading.Lock()
        self._known: _Stored | None = None

    def use(self, request: Callable[[str], ResultT]) -> ResultT:
        """Call ``request`` with the token and return its result; repeat it once with a new token.

        Args:
            request: raises :class:`~strongroom_login_oauth.errors.TokenRefused` if the platform refuses
                the token.

        Raises:
            ProviderUnavailable: no token can be fetched, or the platform refuses the new one, too.
            Misconfigured: ``fetch`` has raised it.
        """
        token = self.get()
        try:
            return request(token)
        except TokenRefused:
            return request(self.replace(token))

    def get(self) -> str:
        """Return a valid token; fetch one if no process has one."""
        known = self._known
        if known is not None and self._is_fresh(known):
            return known.value
        with self._lock:
            return self._current()

    def replace(self, refused: str) -> str:
        """Return a token other than the refused one, if the platform issues one.

        Only the first caller of all processes with the refused token causes a request.
        """
        with self._lock:
            stored = self._values().get(self._key)
            if stored is not None and stored["value"] == refused:
                # Of all who have the refused token, one deletes it.
                self._values().compare_and_set(self._key, stored, None)
            self._known = None
            return self._current(refused)

    def _current(self, refused: str | None = None) -> str:
        ends = self._clock().now() + FETCH_SECONDS * 1000
        pauses = range(int(FETCH_SECONDS / _PAUSE))
        for _ in pauses:
            token = self._stored() or self._fetched(ends, refused)
            if token is not None:
                self._known = token
                return token.value
            self._sleep(_PAUSE)
        raise ProviderUnavailable("another process has not fetched the app's token in time")

    def _stored(self) -> _Stored | None:
        members: dict[str, Any] | None = self._values().get(self._key)
        token = _Stored(**members) if members else None
        return token if token is not None and self._is_fresh(token) else None

    def _fetched(self, ends: int, refused: str | None) -> _Stored | None:
        """Fetch a token, unless another process is doing it."""
        values, turn, owner = self._values(), f"{self._key}.turn", secrets.token_hex(8)
        if not values.compare_and_set(turn, None, owner, expires_at=ends):
            return None
        try:
            # Another process may have finished between the last look and this turn.
            return self._stored() or self._store(self._new_token(refused))
        finally:
            # The turn of a slow process has ended, and may be another one's.
            values.compare_and_set(turn, owner, None)

    def _new_token(self, refused: str | None) -> Token:
        token = self._fetch()
        return self._renew() if self._renew and token.value == refused else token

    def _store(self, token: Token) -> _Stored:
        now, life = self._clock().now(), min(max(token.seconds, 1), MAX_LIFE)
        # A token with a short life is used for half of it, at least.
        seconds = max(life - RENEWAL_MARGIN, life // 2)
        stored = _Stored(token.value, now + seconds * 1000)
        members = {"value": stored.value, "renew_at": stored.renew_at}
        self._values().put(self._key, members, expires_at=now + life * 1000)
        return stored

    def _is_fresh(self, token: _Stored) -> bool:
        return self._clock().now() < token.renew_at
