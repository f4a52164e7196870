"""Stores uploads, their parts and their leases, within the caller's transaction.

A request that writes to an upload holds its lease, which expires unless it is renewed. So a crashed
writer, or one that hangs on a dead connection, blocks other requests only until the lease expires. A
writer without the lease cannot change the upload.
"""

from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from sqlalchemy import Connection, delete, insert, select, update

from strongroom.clock import Clock
from strongroom.errors import NotFound, UploadLocked
from strongroom.ids import new_id
from strongroom.storage.models import Blob
from strongroom.uploads.models import Upload, upload_parts, uploads

LEASE: Final = 20_000
"""Lifetime of a lease in milliseconds, unless it is renewed."""


@dataclass(frozen=True, slots=True)
class Part:
    """A contiguous part of an upload, stored as one blob. ``size`` is in bytes."""

    blob_key: str
    size: int


class Ledger:
    """Repository of uploads and their parts.

    Args:
        clock: decides which leases and uploads have expired.
        lifetime: milliseconds after which an upload without progress expires.
    """

    def __init__(self, clock: Clock, lifetime: int) -> None:
        self._clock = clock
        self.lifetime = lifetime

    def add(self, connection: Connection, upload: Upload) -> None:
        """Store a new upload."""
        connection.execute(insert(uploads).values(asdict(upload)))

    def find(
        self, connection: Connection, tenant_id: str, upload_id: str, *, lock: bool = True
    ) -> Upload:
        """Return an upload; ``lock`` blocks changes by other transactions until this one ends.

        Raises:
            NotFound: the tenant has no such upload, or it has expired.
        """
        query = select(uploads).where(
            uploads.c.id == upload_id,
            uploads.c.tenant_id == tenant_id,
            uploads.c.expires_at > self._clock.now(),
        )
        row = connection.execute(query.with_for_update() if lock else query).first()
        if row is None:
            raise NotFound
        return Upload(*row)

    def lend(self, connection: Connection, upload: Upload) -> str:
        """Acquire the lease of an upload, and return its id. The upload must be locked.

        Raises:
            UploadLocked: another request holds the lease.
        """
        now = self._clock.now()
        if upload.lease is not None and upload.lease_until > now:
            raise UploadLocked(retry_after=1)
        lease = new_id()
        values = {"lease": lease, "lease_until": now + LEASE}
        connection.execute(update(uploads).where(uploads.c.id == upload.id).values(values))
        return lease

    def renew(self, connection: Connection, upload_id: str, lease: str) -> None:
        """Renew a lease. An expired lease can be renewed unless another request has acquired it.

        Raises:
            UploadLocked: another request holds the lease, or the upload was removed.
        """
        self._change(connection, upload_id, lease, {"lease_until": self._clock.now() + LEASE})

    def give_back(self, connection: Connection, upload_id: str, lease: str) -> None:
        """Release a lease, unless another request has acquired it."""
        held = (uploads.c.id == upload_id, uploads.c.lease == lease)
        connection.execute(update(uploads).where(*held).values(lease=None))

    def advance(self, connection: Connection, upload: Upload, lease: str, blob: Blob) -> None:
        """Store the next part of an upload, and renew the lease and the upload's expiry.

        Raises:
            UploadLocked: another request holds the lease, or the upload was removed.
        """
        now = self._clock.now()
        changes = {
            "received": upload.received + blob.size,
            "lease_until": now + LEASE,
            "expires_at": now + self.lifetime,
        }
        self._change(connection, upload.id, lease, changes)
        part = {"start": upload.received, "blob_key": blob.key, "size": blob.size}
        connection.execute(insert(upload_parts).values(upload_id=upload.id, **part))

    def parts(self, connection: Connection, upload_id: str) -> list[Part]:
        """Return the parts of an upload, in order."""
        columns = (upload_parts.c.blob_key, upload_parts.c.size)
        query = select(*columns).where(upload_parts.c.upload_id == upload_id)
        return [Part(*row) for row in connection.execute(query.order_by(upload_parts.c.start))]

    def finish(self, connection: Connection, upload: Upload, lease: str, file_id: str) -> Upload:
        """Store the file of a complete upload, delete the rows of its parts, and return the upload.

        Raises:
            UploadLocked: another request holds the lease, or the upload was removed.
        """
        finished = replace(
            upload,
            received=upload.size,
            file_id=file_id,
            lease=None,
            expires_at=self._clock.now() + self.lifetime,
        )
        self._change(connection, upload.id, lease, asdict(finished))
        self._forget_parts(connection, upload.id)
        return finished

    def remove(self, connection: Connection, upload_id: str) -> None:
        """Delete an upload and the rows of its parts."""
        self._forget_parts(connection, upload_id)
        connection.execute(delete(uploads).where(uploads.c.id == upload_id))

    def next_expired(self, connection: Connection) -> Upload | None:
        """Return and lock an expired upload without an active lease, or return ``None``.

        Uploads that another transaction has locked are skipped, so servers can prune concurrently.
        """
        now = self._clock.now()
        idle = uploads.c.lease.is_(None) | (uploads.c.lease_until <= now)
        query = select(uploads).where(uploads.c.expires_at <= now, idle).limit(1)
        row = connection.execute(query.with_for_update(skip_locked=True)).first()
        return Upload(*row) if row else None

    def next_of_tenant(self, connection: Connection, tenant_id: str) -> Upload | None:
        """Return and lock an upload of a tenant, even one with an active lease, or return ``None``."""
        # The tenant is being purged, so active writers are not spared.
        query = select(uploads).where(uploads.c.tenant_id == tenant_id).limit(1)
        row = connection.execute(query.with_for_update()).first()
        return Upload(*row) if row else None

    def _change(
        self, connection: Connection, upload_id: str, lease: str, changes: dict[str, Any]
    ) -> None:
        # Comparing the lease in the UPDATE makes a writer that has lost it fail.
        held = (uploads.c.id == upload_id, uploads.c.lease == lease)
        if connection.execute(update(uploads).where(*held).values(changes)).rowcount != 1:
            raise UploadLocked(retry_after=1)

    def _forget_parts(self, connection: Connection, upload_id: str) -> None:
        connection.execute(delete(upload_parts).where(upload_parts.c.upload_id == upload_id))
