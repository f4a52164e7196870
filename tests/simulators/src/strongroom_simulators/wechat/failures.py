"""Injected failures: planned responses of an interface."""

import json
import threading
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass

from strongroom_simulators.wechat.refusals import MESSAGES


@dataclass(frozen=True, slots=True)
class PlannedAnswer:
    """A response: raw body, status and headers."""

    body: bytes
    status: int
    headers: Mapping[str, str]


class Failures:
    """The planned responses of each path, in order."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._planned: dict[str, deque[PlannedAnswer]] = defaultdict(deque)

    def plan(self, path: str, errcode: int, *, times: int = 1, message: str | None = None) -> None:
        """Make the next requests to ``path`` fail with an errcode."""
        text = MESSAGES.get(errcode, "an undocumented error") if message is None else message
        self.plan_answer(path, json.dumps({"errcode": errcode, "errmsg": text}).encode(), times=times)

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
