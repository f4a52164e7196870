"""Leases by name: ``host.leases``.

A lease is the right to do something until it ends, such as to run an import, or to change a document.
Of all threads, workers and nodes with the same database, one gets it::

    lease = host.leases.acquire("import", seconds=600)
    if lease is None:
        return  # another process imports
    try:
        import_all()
    finally:
        host.leases.release(lease.id)

A process that was killed blocks the name only until the lease ends. Work that may last longer renews its
lease, and stops if that fails. Each plugin has its own names.

Shared leases of a name exclude only leases that are not shared. So a lock of a document consists of a
lease of its path, and shared leases of the paths of the folders around it; a lock of one of these
folders with everything in it is a lease of the folder's path.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

MAX_LEASE_SECONDS: Final = 30 * 24 * 3600
"""The longest lease, in seconds from its last renewal."""


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease of a name.

    Args:
        id: identifies the lease, to renew and to release it, also in another process.
        name: the name.
        is_shared: whether there may be other shared leases of the name.
        expires_at: when it ends unless it is renewed, in milliseconds since the Unix epoch.
    """

    id: str
    name: str
    is_shared: bool
    expires_at: int


class LeasesAPI(ABC):
    """The leases of the plugin. Each method is a transaction of its own."""

    @abstractmethod
    def acquire(self, name: str, seconds: int, *, shared: bool = False) -> Lease | None:
        """Acquire a lease, or return ``None`` if another one excludes it; do not wait.

        Args:
            name: 1 to 255 characters.
            seconds: how long it lasts unless it is renewed, at most :data:`MAX_LEASE_SECONDS`.
            shared: whether other shared leases of the name may exist.

        Raises:
            ValueError: an argument is outside of these limits.
        """

    @abstractmethod
    def renew(self, lease_id: str, seconds: int) -> Lease | None:
        """Let a lease last for a time from now, or return ``None`` if it has ended."""

    @abstractmethod
    def release(self, lease_id: str) -> bool:
        """End a lease, and return whether it had not ended already."""
