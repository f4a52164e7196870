"""The backends that count rates: the database or Redis."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from limits.storage import Storage, storage_from_string

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.limits.storage import SCHEME

# TCP repeats a lost packet after 0.2 s, and a lost SYN after 1 s. The timeout is longer, so that neither
# counts as an outage, and short, because each waiting request occupies a thread of the server.
_REDIS_TIMEOUT_SECONDS: Final = 1.5


@dataclass(frozen=True, slots=True)
class LimitBackend:
    """The URI and options from which ``limits`` and Flask-Limiter create a storage."""

    uri: str
    options: Mapping[str, Any]

    def open(self) -> Storage:
        """Create the storage.

        Raises:
            TypeError: the URI names an asynchronous storage.
        """
        storage = storage_from_string(self.uri, **self.options)
        if not isinstance(storage, Storage):
            raise TypeError("an asynchronous storage cannot be used here")
        return storage


def in_redis(url: str) -> LimitBackend:
    """Return the backend for Redis, with short timeouts in case it hangs.

    Requests to Redis are not retried, because the first try may have been counted.
    """
    timeouts = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), _REDIS_TIMEOUT_SECONDS)
    return LimitBackend(url, {"wrap_exceptions": True, **timeouts})


def in_database(database: Database, clock: Clock) -> LimitBackend:
    """Return the backend for the database."""
    return LimitBackend(f"{SCHEME}://", {"database": database, "clock": clock})
