"""What the simulator remembers of the requests it has answered."""

from collections import Counter, deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One answered request: its operation as OSS names it, its target, and the status it got."""

    operation: str
    target: str
    status: int


class RequestLog:
    """The latest answered requests, oldest first. Appending is safe from several threads."""

    def __init__(self, capacity: int = 10_000) -> None:
        self._entries: deque[LoggedRequest] = deque(maxlen=capacity)

    def append(self, entry: LoggedRequest) -> None:
        """Remember an answered request."""
        self._entries.append(entry)

    def clear(self) -> None:
        """Forget all."""
        self._entries.clear()

    def entries(self) -> list[LoggedRequest]:
        """Return what is remembered."""
        return list(self._entries)

    def operations(self) -> Counter[str]:
        """Return how often each operation was asked for."""
        return Counter(entry.operation for entry in self.entries())
