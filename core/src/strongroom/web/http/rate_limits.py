"""Limits requests per client address by the rates in ``[limits]``, with Flask-Limiter."""

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from flask import Flask
from flask_limiter import Limiter
from limits import RateLimitItem, parse_many
from limits.errors import StorageError

from strongroom.clock import Clock
from strongroom.foundation.addresses import network_of
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.errors import TooManyRequests, Unavailable
from strongroom.foundation.limits.backends import LimitBackend
from strongroom.foundation.limits.service import RETRY_SECONDS, wait
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.web.http.request import client


class RequestLimits:
    """Limits requests per address over moving windows; refuses them while the backend is unavailable.

    Args:
        backend: where requests are counted, shared by all processes.
        limits: the rates by the name of their key in ``[limits]``.
        on_refusal: called with the name of each limit that refuses a request.
    """

    def __init__(
        self,
        backend: LimitBackend,
        limits: Mapping[str, Sequence[Rate]],
        keys: SecretKeys,
        clock: Clock,
        on_refusal: Callable[[str], None] = lambda _name: None,
    ) -> None:
        self._on_refusal = on_refusal
        self._limits = {name: "; ".join(map(str, rates)) for name, rates in limits.items()}
        self._keys = keys
        self._clock = clock
        limiter = Limiter(
            self._subject,
            # Not the application itself: each operation names its limit, so the hooks that Flask-Limiter
            # registers, which look for the limits of every request, would only cost time.
            app=Flask("limits"),
            strategy="moving-window",
            storage_uri=backend.uri,
            # The annotation covers only the storages that Flask-Limiter ships.
            storage_options=cast("dict[str, str | int]", dict(backend.options)),
            swallow_errors=False,
            headers_enabled=False,
        )
        self._limiter = limiter.limiter

    def spend(self, name: str, user_id: str | None = None) -> None:
        """Count the request for a limit.

        Args:
            name: the key in ``[limits]``.
            user_id: the user to count for; ``None`` counts for the client's address.

        Raises:
            TooManyRequests: the limit is reached.
            Unavailable: the backend does not answer.
        """
        subject = self._subject() if user_id is None else self._keys.hash("rates", user_id)
        if not self._hit(name, subject):
            self._on_refusal(name)
            raise self._refusal(name, subject)

    def has_room(self, name: str) -> bool:
        """Count the request for a limit, and return whether the limit had room.

        For views that continue past a limit, for example with a captcha. A limit that only refuses is
        declared with the route.

        Raises:
            Unavailable: the backend does not answer.
        """
        return self._hit(name, self._subject())

    def _hit(self, name: str, subject: str) -> bool:
        # The shortest window first: all() stops at the first full one, and the others do not count.
        hit = self._limiter.hit
        try:
            return all(hit(item, subject, name) for item in sorted(self._items(name)))
        except StorageError as error:
            raise Unavailable(retry_after=RETRY_SECONDS) from error

    def _subject(self) -> str:
        return self._keys.hash("rates", network_of(client().address))

    def _items(self, name: str) -> list[RateLimitItem]:
        return parse_many(self._limits[name]) if self._limits[name] else []

    def _refusal(self, name: str, subject: str) -> TooManyRequests:
        full = [item for item in self._items(name) if not self._limiter.test(item, subject, name)]
        # A retry succeeds only when all of them have room again.
        waits = [wait(self._limiter, self._clock, item, subject, name) for item in full]
        return TooManyRequests(retry_after=max(waits, default=1))
