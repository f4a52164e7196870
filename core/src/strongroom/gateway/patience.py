"""The minimum rate at which a client must send and read."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class TransferRate:
    """The minimum transfer rate of a client.

    Args:
        grace_seconds: the longest pause, at the start or after keeping up the rate.
        bytes_per_second: the minimum rate beyond that.
    """

    grace_seconds: float = 10.0
    bytes_per_second: int = 1024

    def seconds_for(self, size: int) -> float:
        """Return the maximum duration of a transfer of ``size`` bytes."""
        return self.grace_seconds + size / self.bytes_per_second


UNLIMITED: Final = float("inf")


class Patience:
    """A token bucket of the seconds for which one transfer may still wait for its client.

    Waiting consumes seconds, and transferred bytes refill them up to the grace period. Time that the
    server itself takes, for example to store bytes, does not count. The bucket is bounded: even after a
    fast transfer, a client may pause no longer than at the start.
    """

    __slots__ = ("_rate", "seconds")

    def __init__(self, rate: TransferRate) -> None:
        self._rate = rate
        self.seconds = rate.grace_seconds

    def spend(self, waited: float, transferred: int) -> None:
        """Consume ``waited`` seconds, and refill for ``transferred`` bytes."""
        earned = transferred / self._rate.bytes_per_second
        self.seconds = min(self._rate.grace_seconds, self.seconds - waited + earned)
