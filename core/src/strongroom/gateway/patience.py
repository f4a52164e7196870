"""The minimum rate at which a client must send and read."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class TransferRate:
    """How slow a client may be.

    Args:
        grace_seconds: how long a client may pause, at the start or after keeping up the rate.
        bytes_per_second: the minimum rate beyond that.
    """

    grace_seconds: float = 10.0
    bytes_per_second: int = 1024

    def seconds_for(self, size: int) -> float:
        """Return how long a transfer of ``size`` bytes may take in all."""
        return self.grace_seconds + size / self.bytes_per_second


UNLIMITED: Final = float("inf")


class Patience:
    """The seconds for which one transfer may still wait for its client.

    Waiting spends them, and bytes earn them back up to the grace period. Time that the server spends
    itself, on storing bytes for instance, does not count. A client cannot save up: after fast megabytes
    it may pause no longer than at the start.
    """

    __slots__ = ("_rate", "seconds")

    def __init__(self, rate: TransferRate) -> None:
        self._rate = rate
        self.seconds = rate.grace_seconds

    def spend(self, waited: float, transferred: int) -> None:
        """Count a wait of so many seconds, after which so many bytes were transferred."""
        earned = transferred / self._rate.bytes_per_second
        self.seconds = min(self._rate.grace_seconds, self.seconds - waited + earned)
