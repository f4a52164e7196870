"""Measures contenders alternately, and compares their figures.

On a shared machine, an absolute figure is unreliable, but the ratio of two figures measured one directly
after the other is stable. So contenders alternate, each round yields a ratio, and the median of the
ratios is the result.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final, TypeVar

T = TypeVar("T")

MEBIBYTE: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Args:
        rounds: number of measurements of each contender.
        seconds: duration of a measurement under load.
        transfer_bytes: the size of the file that a transfer moves.
        files: how many files a large tenant has.
        bundled: how many files a bundle has.
        pairs: pairs of fresh servers, if two versions are compared. The layout of a process in memory
            changes its processor time, so one pair is no result.
    """

    rounds: int = 5
    seconds: float = 2.0
    transfer_bytes: int = 200 * MEBIBYTE
    files: int = 1_000_000
    bundled: int = 1000
    pairs: int = 3


QUICK: Final = Plan(rounds=1, seconds=0.1, transfer_bytes=2 * MEBIBYTE, files=2000, bundled=5, pairs=1)
"""So little that all benches run to their end in minutes; its figures mean nothing."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The middle of some figures, and how far they lie apart."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Sequence[float]) -> "Spread":
        """Return the spread of at least one figure."""
        return cls(median(values), min(values), max(values))


@dataclass(frozen=True, slots=True)
class Limit:
    """What cannot be surpassed, or a peer: one figure for each round."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True)
class Row:
    """One measured property of Strongroom, with a figure for each round.

    Args:
        name: the measured property.
        unit: the unit of the figures.
        values: the figures.
        limit: the reference measured alternately.
        is_cost: whether lower is better.
    """

    name: str
    unit: str
    values: Sequence[float]
    limit: Limit | None = None
    is_cost: bool = False

    @property
    def ratio(self) -> Spread | None:
        """The ratio to the limit over the rounds; higher is better, for costs as well."""
        if self.limit is None:
            return None
        pairs = zip(self.values, self.limit.values, strict=True)
        return Spread.of([theirs / ours if self.is_cost else ours / theirs for ours, theirs in pairs])


def interleave(rounds: int, *contenders: Callable[[], T]) -> list[list[T]]:
    """Call the contenders alternately, and return the figures of each.

    A call before the first round warms up and does not count.
    """
    for contender in contenders:
        contender()
    figures: list[list[T]] = [[] for _ in contenders]
    for _ in range(rounds):
        for taken, contender in zip(figures, contenders, strict=True):
            taken.append(contender())
    return figures
