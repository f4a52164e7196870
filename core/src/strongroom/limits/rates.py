"""Rate limits, counted by the ``limits`` library over moving windows."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from limits import RateLimitItem, RateLimitItemPerSecond
from limits.errors import StorageError
from limits.storage import Storage
from limits.strategies import MovingWindowRateLimiter, RateLimiter

from strongroom.clock import Clock
from strongroom.config.rates import Rate
from strongroom.errors import TooManyRequests, Unavailable
from strongroom.secret_keys import SecretKeys

RETRY_SECONDS: Final = 5
"""Value of Retry-After, in seconds, while the backend is unavailable."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """The rates that limit one purpose for one subject; all of them apply."""

    purpose: str
    subject: str
    rates: Sequence[Rate]


class RateLimits:
    """Enforces rate limits. They fail closed: while the backend is unavailable, requests are refused.

    Args:
        storage: counts the events.
        keys: hashes the subjects.
    """

    def __init__(self, storage: Storage, keys: SecretKeys, clock: Clock) -> None:
        self._limiter = MovingWindowRateLimiter(storage)
        self._keys = keys
        self._clock = clock

    def spend(self, *allowances: Allowance) -> None:
        """Count one event for each allowance.

        Nothing is counted unless all allowances have room. Exception: if a concurrent request uses the
        last room of one, the events counted before it remain. A rate is never exceeded.

        Raises:
            TooManyRequests: an allowance has no room.
            Unavailable: the backend is unavailable.
        """
        items = [item for allowance in allowances for item in self._items(allowance)]
        try:
            # Test all before hitting any, so that a refused request uses up no other allowance.
            full = [(item, key) for item, key in items if not self._limiter.test(item, key)]
            if full:
                raise self._refusal(full)
            for item, key in items:
                if not self._limiter.hit(item, key):
                    raise self._refusal([(item, key)])
        except StorageError as error:
            raise Unavailable(retry_after=RETRY_SECONDS) from error

    def _items(self, allowance: Allowance) -> list[tuple[RateLimitItem, str]]:
        key = f"{allowance.purpose}:{self._keys.hash('rates', allowance.subject)}"
        return [(RateLimitItemPerSecond(rate.count, rate.seconds), key) for rate in allowance.rates]

    def _refusal(self, full: Sequence[tuple[RateLimitItem, str]]) -> TooManyRequests:
        # A retry succeeds only when all of them have room again.
        return TooManyRequests(
            retry_after=max(wait(self._limiter, self._clock, item, key) for item, key in full)
        )


def wait(limiter: RateLimiter, clock: Clock, item: RateLimitItem, *identifiers: str) -> int:
    """Return the number of seconds, at least 1, until an exhausted rate has room again."""
    resets_at = limiter.get_window_stats(item, *identifiers).reset_time
    seconds = math.ceil(resets_at - clock.now() / 1000)
    # The backend's clock may be ahead of this one, so the wait is capped at the window's length.
    return max(1, min(seconds, item.get_expiry()))
