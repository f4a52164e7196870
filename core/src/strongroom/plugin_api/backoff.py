"""Delays between the attempts of something that fails temporarily."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self

RETRY_AFTER_SECONDS: Final = 5
"""The default of ``retry_after``, in seconds, in all exceptions for a temporary fault."""


@dataclass(frozen=True, slots=True)
class Backoff:
    """Delays that grow with the number of failures.

    Args:
        delays: milliseconds after each failure; the last one is repeated.
        jitter: the fraction by which a delay varies at random, so that attempts do not fail in step.
        uniform: returns a random number between two others.
    """

    delays: Sequence[int]
    jitter: float = 0.0
    uniform: Callable[[float, float], float] = random.uniform

    @classmethod
    def exponential(cls, base: int, *, maximum: int, factor: int = 2, jitter: float = 0.0) -> Self:
        """Return delays that begin with ``base`` milliseconds and are multiplied by ``factor``."""
        delays = []
        while base < maximum:
            delays.append(base)
            base *= factor
        return cls((*delays, maximum), jitter)

    def delay(self, failures: int, *, at_least: int = 0) -> int:
        """Return the milliseconds before the next attempt.

        Args:
            failures: how many attempts have failed; at least 1.
            at_least: milliseconds that the other side has asked for.
        """
        delay = self.delays[min(failures, len(self.delays)) - 1]
        spread = self.uniform(1 - self.jitter, 1 + self.jitter) if self.jitter else 1
        return round(max(delay * spread, at_least))
