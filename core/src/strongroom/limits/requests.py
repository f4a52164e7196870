"""Limits requests per client address by the rates in ``[limits]``, with Flask-Limiter."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from flask import Flask, Response
from flask_limiter import Limiter, RateLimitExceeded
from limits import RateLimitItem, parse_many
from limits.errors import StorageError

from strongroom.addresses import network_of
from strongroom.clock import Clock
from strongroom.config.rates import Rate
from strongroom.errors import TooManyRequests, Unavailable
from strongroom.limits.backends import LimitBackend
from strongroom.limits.rates import RETRY_SECONDS, wait
from strongroom.secret_keys import SecretKeys
from strongroom.web.blueprint import limit_of
from strongroom.web.errors import answer
from strongroom.web.requests import client


class RequestLimits:
    """Limits requests per address over moving windows; refuses them while the backend is unavailable.

    Args:
        app: the application; :meth:`guard_routes` limits its routes.
        place: the backend, shared by all processes.
        limits: the rates by the name of their key in ``[limits]``.
        keys: hashes addresses.
    """

    def __init__(
        self,
        app: Flask,
        place: LimitBackend,
        limits: Mapping[str, Sequence[Rate]],
        keys: SecretKeys,
        clock: Clock,
    ) -> None:
        self._limits = {name: "; ".join(map(str, rates)) for name, rates in limits.items()}
        self._keys = keys
        self._clock = clock
        self._limiter = Limiter(
            self._subject,
            app=app,
            strategy="moving-window",
            storage_uri=place.uri,
            # The annotation covers only the storages that Flask-Limiter ships.
            storage_options=cast("dict[str, str | int]", dict(place.options)),
            swallow_errors=False,
            headers_enabled=False,
            enabled=True,
        )
        app.register_error_handler(RateLimitExceeded, self._refuse)
        app.register_error_handler(StorageError, _refuse_uncounted)

    def guard_routes(self, app: Flask) -> None:
        """Limit every route that declares a limit; call this after all routes are registered."""
        views: dict[str, Callable[..., Any]] = app.view_functions
        for endpoint, view in views.items():
            name = limit_of(view)
            if name is not None:
                views[endpoint] = self._limiter.shared_limit(self._limits[name], scope=name)(view)

    def spend(self, name: str, user_id: str | None = None) -> None:
        """Count the request for a limit that its route does not declare.

        Args:
            name: the key in ``[limits]``.
            user_id: the user to count for; ``None`` counts for the client's address.

        Raises:
            TooManyRequests: the limit is reached.
        """
        subject = self._subject() if user_id is None else self._keys.hash("rates", user_id)
        if not self._hit(name, subject):
            raise self._refusal(name, subject)

    def has_room(self, name: str) -> bool:
        """Count the request for a limit, and return whether the limit had room.

        For views that continue past a limit, for example with a captcha. A limit that only refuses is
        declared with the route.
        """
        return self._hit(name, self._subject())

    def _hit(self, name: str, subject: str) -> bool:
        # The shortest window first: all() stops at the first full one, and the others do not count.
        hit = self._limiter.limiter.hit
        return all(hit(item, subject, name) for item in sorted(self._items(name)))

    def _subject(self) -> str:
        return self._keys.hash("rates", network_of(client().address))

    def _items(self, name: str) -> list[RateLimitItem]:
        return parse_many(self._limits[name]) if self._limits[name] else []

    def _refuse(self, error: RateLimitExceeded) -> Response:
        return answer(self._refusal(str(error.limit.scope), self._subject()))

    def _refusal(self, name: str, subject: str) -> TooManyRequests:
        limiter, identifiers = self._limiter.limiter, (subject, name)
        full = [item for item in self._items(name) if not limiter.test(item, *identifiers)]
        # A retry succeeds only when all of them have room again.
        waits = [wait(limiter, self._clock, item, *identifiers) for item in full]
        return TooManyRequests(retry_after=max(waits, default=1))


def _refuse_uncounted(_: StorageError) -> Response:
    return answer(Unavailable(retry_after=RETRY_SECONDS))
