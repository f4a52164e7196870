"""Rate limits of simulated platforms."""

import threading
from collections import defaultdict, deque
from collections.abc import Callable, Hashable


class Limit:
    """Allows ``times`` hits per key in a sliding window of ``seconds``; else raises ``refusal()``."""

    def __init__(
        self,
        times: int,
        seconds: float,
        refusal: Callable[[], Exception],
        clock: Callable[[], float],
    ) -> None:
        self._times = times
        self._seconds = seconds
        self._refusal = refusal
        self._clock = clock
        self._lock = threading.Lock()
        self._passed: dict[Hashable, deque[float]] = defaultdict(deque)

    def forget(self) -> None:
        """Forget all hits, as if the window had passed."""
        with self._lock:
            self._passed.clear()

    def hit(self, key: Hashable) -> None:
        """Count one hit.

        Raises:
            Exception: the limit's own; the limit is exceeded.
        """
        with self._lock:
            now, passed = self._clock(), self._passed[key]
            while passed and passed[0] <= now - self._seconds:
                passed.popleft()
            if len(passed) >= self._times:
                raise self._refusal()
            passed.append(now)
