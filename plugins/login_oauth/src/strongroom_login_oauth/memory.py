"""The shared values of one process, for tests without a server."""

import threading
from typing import Any

from strongroom.plugin_api.host import Clock
from strongroom.plugin_api.state import ValueStore


class MemoryValues(ValueStore):
    """Implements :class:`~strongroom.plugin_api.state.ValueStore` in memory. Thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rows: dict[str, tuple[Any, int | None]] = {}

    def get(self, key: str) -> Any:
        with self._lock:
            return self._get(key)

    def put(self, key: str, value: Any, *, expires_at: int | None = None) -> None:
        with self._lock:
            self._rows[key] = (value, expires_at)

    def delete(self, key: str) -> bool:
        with self._lock:
            return self._rows.pop(key, None) is not None

    def compare_and_set(
        self, key: str, expected: Any, value: Any, *, expires_at: int | None = None
    ) -> bool:
        with self._lock:
            if self._get(key) != expected:
                return False
            if value is None:
                self._rows.pop(key, None)
            else:
                self._rows[key] = (value, expires_at)
            return True

    def _get(self, key: str) -> Any:
        value, ends = self._rows.get(key, (None, None))
        return value if ends is None or self._clock.now() < ends else None
