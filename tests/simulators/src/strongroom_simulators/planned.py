"""Injected failures: planned responses of a path."""

import threading
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """A response: raw body, status and headers."""

    body: bytes
    status: int
    headers: Mapping[str, str]


class PlannedAnswers:
    """The planned responses of each path, in order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._planned: dict[str, deque[PlannedAnswer]] = defaultdict(deque)

    def plan_answer(
        self,
        path: str,
        body: bytes,
        *,
        status: int = 200,
        headers: Mapping[str, str] | None = None,
        times: int = 1,
    ) -> None:
        """Make the next requests to ``path`` return ``body``."""
        with self._lock:
            self._planned[path].extend([PlannedAnswer(body, status, headers or {})] * times)

    def take(self, path: str) -> PlannedAnswer | None:
        """Remove and return the next planned response, or ``None``."""
        with self._lock:
            planned = self._planned[path]
            return planned.popleft() if planned else None
