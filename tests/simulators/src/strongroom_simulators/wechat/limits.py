"""The platform's rate limits."""

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Hashable

from strongroom_simulators.wechat.refusals import Refusal


class Limit:
    """Allows ``times`` hits per key in a sliding window of ``seconds``; else raises ``errcode``."""

    def __init__(self, times: int, seconds: float, errcode: int, clock: Callable[[], float]) -> None:
        self._times = times
        self._seconds = seconds
        self._errcode = errcode
        self._clock = clock
        self._lock = threading.Lock()
        self._passed: dict[Hashable, deque[float]] = defaultdict(deque)

    def hit(self, key: Hashable) -> None:
        """Count one hit.

        Raises:
            Refusal: the limit is exceeded.
        """
        with self._lock:
            now, passed = self._clock(), self._passed[key]
            while passed and passed[0] <= now - self._seconds:
                passed.popleft()
            if len(passed) >= self._times:
                raise Refusal(self._errcode)
            passed.append(now)
