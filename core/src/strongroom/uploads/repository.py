"""The record of uploads, within the caller's transaction.

Whoever writes to an upload holds its lease, which runs out unless it is renewed: a writer that died, or
hangs on a dead connection, is in nobody's way for long. What it writes after that changes nothing.
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
"""Milliseconds after which a writer that is not heard of is taken for dead."""


@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of an upload that lie one after another in a blob. ``size`` is in bytes."""

    blob_key: str
    size: int


class Ledger:
    """Uploads and their parts.

    Args:
        clock: the time.
        lifetime: milliseconds after which an upload that makes no progress is given up.
    """

    def __init__(self, clock: Clock, lifetime: int) -> None:
        self._clock = clock
        self.lifetime = lifetime

    def add(self, connection: Connection, upload: Upload) -> None:
        """Write down an upload that begins."""
        connection.execute(insert(uploads).values(asdict(upload)))

    def find(
        self, connection: Connection, tenant_id: str, upload_id: str, *, lock: bool = True
    ) -> Upload:
        """Return an upload, which with ``lock`` no other transaction changes before this one ends.

        Raises:
            NotFound: the tenant has no such upload, or it was given up.
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
        """Give the caller the lease of an upload, and return it.

        Raises:
            UploadLocked: somebody else holds it.
        """
        now = self._clock.now()
        if upload.lease is not None and upload.lease_until > now:
            raise UploadLocked(retry_after=1)
        lease = new_id()
        values = {"lease": lease, "lease_until": now + LEASE}
        connection.execute(update(uploads).where(uploads.c.id == upload.id).values(values))
        return lease

    def renew(self, connection: Connection, upload_id: str, lease: str) -> None:
        """Go on holding a lease.

        Raises:
            UploadLocked: it ran out, and somebody else holds it now.
        """
        self._change(connection, upload_id, lease, {"lease_until": self._clock.now() + LEASE})

    def give_back(self, connection: Connection, upload_id: str, lease: str) -> None:
        """End a lease, unless somebody else holds it by now."""
        held = (uploads.c.id == upload_id, uploads.c.lease == lease)
        connection.execute(update(uploads).where(*held).values(lease=None))

    def advance(self, connection: Connection, upload: Upload, lease: str, blob: Blob) -> None:
        """Write down the next part of an upload: it is acknowledged with this transaction.

        Raises:
            UploadLocked: the lease ran out, and somebody else holds it now.
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
        """Return the parts of an upload in their order."""
        columns = (upload_parts.c.blob_key, upload_parts.c.size)
        query = select(*columns).where(upload_parts.c.upload_id == upload_id)
        return [Part(*row) for row in connection.execute(query.order_by(upload_parts.c.start))]

    def finish(self, connection: Connection, upload: Upload, lease: str, file_id: str) -> Upload:
        """Write down what an upload has become, and return it; its parts are no longer part of it.

        Raises:
            UploadLocked: the lease ran out, and somebody else holds it now.
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
        """Forget an upload and its parts."""
        self._forget_parts(connection, upload_id)
        connection.execute(delete(uploads).where(uploads.c.id == upload_id))

    def next_expired(self, connection: Connection) -> Upload | None:
        """Return an upload that is to be given up, and that nobody is writing to."""
        now = self._clock.now()
        idle = uploads.c.lease.is_(None) | (uploads.c.lease_until <= now)
        query = select(uploads).where(uploads.c.expires_at <= now, idle).limit(1)
        row = connection.execute(query.with_for_update(skip_locked=True)).first()
        return Upload(*row) if row else None

    def next_of_tenant(self, connection: Connection, tenant_id: str) -> Upload | None:
        """Return an upload to a tenant, also one that is being written to."""
        query = select(uploads).where(uploads.c.tenant_id == tenant_id).limit(1)
        row = connection.execute(query.with_for_update()).first()
        return Upload(*row) if row else None

    def _change(
        self, connection: Connection, upload_id: str, lease: str, changes: dict[str, Any]
    ) -> None:
        held = (uploads.c.id == upload_id, uploads.c.lease == lease)
        if connection.execute(update(uploads).where(*held).values(changes)).rowcount != 1:
            raise UploadLocked(retry_after=1)

    def _forget_parts(self, connection: Connection, upload_id: str) -> None:
        connection.execute(delete(upload_parts).where(upload_parts.c.upload_id == upload_id))
