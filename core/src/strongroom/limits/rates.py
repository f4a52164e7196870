"""Rates: how often something may happen, counted by the ``limits`` library over a moving window."""

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
"""When to come back if nobody can tell."""


@dataclass(frozen=True, slots=True)
class Allowance:
    """How often one subject may do one thing; all rates apply."""

    purpose: str
    subject: str
    rates: Sequence[Rate]


class RateLimits:
    """Spends allowances. A storage that is away refuses; it never lets pass.

    Args:
        storage: where events are counted.
        keys: what hashes subjects.
        clock: the time.
    """

    def __init__(self, storage: Storage, keys: SecretKeys, clock: Clock) -> None:
        self._limiter = MovingWindowRateLimiter(storage)
        self._keys = keys
        self._clock = clock

    def spend(self, *allowances: Allowance) -> None:
        """Count one event for each allowance.

        Nothing is counted unless every allowance has room, save when others spend the last of one at
        the same moment; never is more allowed than a rate says.

        Raises:
            TooManyRequests: one of them is used up.
            Unavailable: nobody can tell.
        """
        items = [item for allowance in allowances for item in self._items(allowance)]
        try:
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
        # Before the last of them has room, coming back is in vain.
        return TooManyRequests(
            retry_after=max(wait(self._limiter, self._clock, item, key) for item, key in full)
        )


def wait(limiter: RateLimiter, clock: Clock, item: RateLimitItem, *identifiers: str) -> int:
    """Return after how many seconds a rate that is used up has room again; at least one."""
    resets_at = limiter.get_window_stats(item, *identifiers).reset_time
    seconds = math.ceil(resets_at - clock.now() / 1000)
    # A storage may have a clock of its own, which is a little ahead.
    return max(1, min(seconds, item.get_expiry()))
