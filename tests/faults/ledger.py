"""What clients were told: acknowledged, refused or unknown."""

import threading
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Final, NamedTuple

NO_ANSWER: Final = 0
"""The status of a request without a whole answer."""


class Breach(StrEnum):
    """The kinds of broken promises."""

    LOST = "lost"
    DOUBLED = "doubled"
    ERROR_500 = "error 500"
    OTHER = "other"


class Fault(NamedTuple):
    """A promise that was broken."""

    breach: Breach
    text: str


@dataclass(frozen=True)
class Outcome:
    """What became of a request."""

    kind: str
    is_change: bool
    status: int
    code: str
    began: float
    end: float
    served_by: str = ""

    @property
    def is_success(self) -> bool:
        """Whether it was acknowledged."""
        return 200 <= self.status < 300


@dataclass
class File:
    """A file that a client uploaded, or tried to."""

    tenant: str
    names: set[str]
    digest: str
    size: int
    id: str | None = None
    grants: dict[str, bool] = field(default_factory=dict)
    shares: bool | None = None
    is_verified: bool = False

    @property
    def is_acknowledged(self) -> bool:
        """Whether a client was told that it is stored."""
        return self.id is not None


@dataclass
class Ledger:
    """What all clients saw. Threads add to it."""

    outcomes: list[Outcome] = field(default_factory=list)
    files: list[File] = field(default_factory=list)
    registered: dict[str, bool] = field(default_factory=dict)
    feeds: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    violations: list[Fault] = field(default_factory=list)
    lost_sessions: list[float] = field(default_factory=list)
    used_refresh_tokens: list[tuple[float, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def violate(self, breach: Breach, text: str) -> None:
        """Record that a promise was broken."""
        self.violations.append(Fault(breach, text))

    def statuses(self, since: float = 0.0) -> Counter[tuple[int, str]]:
        """Return how many requests since a moment got each status and error code."""
        outcomes = list(self.outcomes)
        return Counter((item.status, item.code) for item in outcomes if item.began >= since)

    def longest_gap(self, since: float, until: float, *, changes: bool) -> float:
        """Return the longest time without a success, of changes or of reads."""
        end = sorted(
            item.end
            for item in list(self.outcomes)
            if item.is_success and item.is_change == changes and since <= item.end <= until
        )
        moments = [since, *end, until]
        return max(later - sooner for sooner, later in pairwise(moments))

    def refused_share(self, since: float, until: float) -> float:
        """Return the share of requests that were not acknowledged, of those between two moments."""
        asked = [item for item in list(self.outcomes) if since <= item.began <= until]
        return sum(not item.is_success for item in asked) / len(asked) if asked else 0.0

    def clear(self) -> None:
        """Forget the outcomes of a former fault; what was acknowledged stays."""
        self.outcomes = []
        self.violations = []
        self.lost_sessions = []
