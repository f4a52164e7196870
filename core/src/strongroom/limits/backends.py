"""Where rates are counted: in the database, or in Redis."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from limits.storage import Storage, storage_from_string

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.limits.storage import SCHEME

# A packet that is lost is sent again after 0.2 s, one that opens a connection after 1 s: neither, nor a
# moment without a processor, is a Redis that is away. What waits holds one of the server's threads.
_REDIS_TIMEOUT_SECONDS: Final = 1.5


@dataclass(frozen=True, slots=True)
class LimitBackend:
    """What both ``limits`` and Flask-Limiter make a storage from."""

    uri: str
    options: Mapping[str, Any]

    def open(self) -> Storage:
        """Return a storage."""
        storage = storage_from_string(self.uri, **self.options)
        if not isinstance(storage, Storage):
            raise TypeError("an asynchronous storage cannot be used here")
        return storage


def in_redis(url: str) -> LimitBackend:
    """Return a place in Redis, which is given up soon when Redis hangs.

    Nothing is tried twice: whether the first try was counted, nobody could tell.
    """
    timeouts = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), _REDIS_TIMEOUT_SECONDS)
    return LimitBackend(url, {"wrap_exceptions": True, **timeouts})


def in_database(database: Database, clock: Clock) -> LimitBackend:
    """Return a place in the database."""
    return LimitBackend(f"{SCHEME}://", {"database": database, "clock": clock})
