"""Reads that the standby of a database may answer: which ones, and where each of them goes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from threading import local
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from sqlalchemy import Connection

from strongroom.foundation.database.read_pool import Reader
from strongroom.foundation.database.replica import ReplayPosition, Replica
from strongroom.foundation.database.transaction_clock import OneTransaction

P = ParamSpec("P")
T = TypeVar("T")

OnRead = Callable[[bool], None]
"""Receives whether the replica answered a read that it may answer."""


class ReplicaReads(local):
    """The position that the reads of a thread must not be older than, while the replica may answer."""

    position: ReplayPosition | None = None
    has_read: bool = False
    """Whether the replica answered."""


@dataclass(slots=True, eq=False, repr=False)
class ReplicaRead:
    """The context manager of a read on the replica."""

    _replica: Replica
    _reader: Reader
    _guard: OneTransaction

    def __enter__(self) -> Connection:
        try:
            self._guard.__enter__()
        except BaseException as error:
            self._replica.release(self._reader, error)
            raise
        return self._reader.connection

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self._replica.release(self._reader, error)
        finally:
            self._guard.__exit__()


class _Replicated(Protocol):
    """An object with a database that may have a replica."""

    _database: Any


S = TypeVar("S", bound=_Replicated)


def replica_read(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Declare that the replica may answer a method, which only reads.

    The rows are as new as the primary's: see :meth:`Database.on_replica`. The method is called again if
    the replica fails.
    """

    @wraps(method)
    def read(self: S, *args: P.args, **kwargs: P.kwargs) -> T:
        result: T = self._database.on_replica(lambda: method(self, *args, **kwargs))
        return result

    return read  # type: ignore[return-value]  # `wraps` keeps the names of positional parameters
