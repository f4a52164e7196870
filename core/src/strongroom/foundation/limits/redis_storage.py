"""Moving windows in Redis: on one server, a primary with replicas, or a cluster."""

import time
from typing import Final

from limits.storage import MovingWindowSupport, RedisStorage

from strongroom.foundation.limits.redis_clients import FAULTS, RedisServers, Script

SCHEME: Final = "strongroom-redis"
"""The URI scheme by which Flask-Limiter finds the storage."""

_ACQUIRE: Final = Script(RedisStorage.SCRIPT_ACQUIRE_MOVING_WINDOW.decode(), writes=True)
_READ: Final = Script(RedisStorage.SCRIPT_MOVING_WINDOW.decode(), writes=False)


class RedisWindows(RedisStorage, MovingWindowSupport):
    """The windows of :class:`limits.storage.RedisStorage`, on the servers of any URL.

    With replicas, an event that they do not acknowledge is refused, and a primary without them answers
    nothing: it may have been replaced (ADR 0126).
    """

    STORAGE_SCHEME = [SCHEME]  # noqa: RUF012  as in the base class

    def __init__(self, uri: str, *, servers: RedisServers) -> None:
        super(RedisStorage, self).__init__(uri, wrap_exceptions=True)
        self.key_prefix = self.PREFIX
        self.servers = servers

    @property
    def base_exceptions(self) -> type[Exception] | tuple[type[Exception], ...]:
        return FAULTS

    def acquire_entry(self, key: str, limit: int, expiry: int, amount: int = 1) -> bool:
        return bool(
            self.servers.run(_ACQUIRE, self.prefixed_key(key), time.time(), limit, expiry, amount)
        )

    def get_moving_window(self, key: str, limit: int, expiry: int) -> tuple[float, int]:
        now = time.time()
        window = self.servers.run(_READ, self.prefixed_key(key), now - expiry, limit)
        return (float(window[0]), window[1]) if window else (now, 0)
