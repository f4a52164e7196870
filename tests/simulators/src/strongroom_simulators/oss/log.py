"""Log of the requests that the simulator has processed."""

from collections import Counter, deque
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LoggedRequest:
    """One request: its OSS operation, its target, and the status of the response."""

    operation: str
    target: str
    status: int


class RequestLog:
    """The latest requests, oldest first. Appending is thread-safe."""

    def __init__(self, capacity: int = 10_000) -> None:
        self._entries: deque[LoggedRequest] = deque(maxlen=capacity)

    def append(self, entry: LoggedRequest) -> None:
        """Add a request."""
        self._entries.append(entry)

    def clear(self) -> None:
        """Remove all entries."""
        self._entries.clear()

    def entries(self) -> list[LoggedRequest]:
        """Return all entries."""
        return list(self._entries)

    def operations(self) -> Counter[str]:
        """Return the number of requests per operation."""
        return Counter(entry.operation for entry in self.entries())
