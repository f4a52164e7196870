"""Reads that the items of a batch share, because no item between them changes the result.

The items of a batch often have the same destination. A shared read returns what the first of them read
in the same transaction, which holds the tenant lock; outside of batches it is always executed.
"""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, TypeVar

_T = TypeVar("_T")


class SharedReads:
    """The results of the shared reads of a transaction."""

    def __init__(self) -> None:
        self.of_tenant: Final[dict[Hashable, Any]] = {}
        self.of_folders: Final[dict[Hashable, Any]] = {}

    def forget_folders(self) -> None:
        """Read folders, and permissions on them, once more, because an item may have changed them."""
        self.of_folders.clear()


_current: Final[ContextVar[SharedReads | None]] = ContextVar("shared_reads", default=None)


@contextmanager
def sharing_reads() -> Iterator[SharedReads]:
    """Share the reads of this thread within the block, which is part of one transaction.

    The caller calls :meth:`SharedReads.forget_folders` after each change of a folder or of a grant.
    """
    reads = SharedReads()
    token = _current.set(reads)
    try:
        yield reads
    finally:
        _current.reset(token)


def shared_of_tenant(key: Hashable, read: Callable[[], _T]) -> _T:
    """Return the result of a read that depends on the settings and holds of a tenant only."""
    reads = _current.get()
    return read() if reads is None else _once(reads.of_tenant, key, read)


def shared_of_folder(key: Hashable, read: Callable[[], _T]) -> _T:
    """Return the result of a read that depends on folders, on grants on them, and on members only."""
    reads = _current.get()
    return read() if reads is None else _once(reads.of_folders, key, read)


def _once(results: dict[Hashable, Any], key: Hashable, read: Callable[[], _T]) -> _T:
    if key not in results:
        results[key] = read()
    result: _T = results[key]
    return result
