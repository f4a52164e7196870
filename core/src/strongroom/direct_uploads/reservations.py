"""Stores direct uploads and reserves quota for them."""

from dataclasses import asdict

from sqlalchemy import Connection, delete, func, insert, select, update

from strongroom.clock import Clock
from strongroom.direct_uploads.models import DirectUpload, direct_uploads
from strongroom.errors import TooManyRequests
from strongroom.tenants.quota import Quota

_BATCH = 200


class Reservations:
    """Repository of direct uploads, within the caller's transaction.

    Args:
        clock: decides which uploads have expired.
        space: reserves quota.
        max_open: maximum number of open uploads per user.
    """

    def __init__(self, clock: Clock, space: Quota, max_open: int) -> None:
        self._clock = clock
        self._space = space
        self._max_open = max_open

    def add(self, connection: Connection, upload: DirectUpload) -> None:
        """Store a new upload and reserve its size.

        Raises:
            StorageFull: the tenant's quota would be exceeded.
            TooManyRequests: the user has too many open uploads.
        """
        # The reservation locks the tenant's row first, so concurrent requests are counted one by one.
        self._space.reserve(connection, upload.tenant_id, upload.size)
        self._require_few(connection, upload.user_id)
        connection.execute(insert(direct_uploads).values(asdict(upload)))

    def find(self, connection: Connection, key: str, *, lock: bool = False) -> DirectUpload | None:
        """Return an upload, or ``None`` if it was removed.

        Args:
            connection: the caller's transaction.
            key: key of the upload's blob.
            lock: whether to prevent its removal until the transaction ends.
        """
        query = select(direct_uploads).where(direct_uploads.c.key == key)
        row = connection.execute(query.with_for_update() if lock else query).first()
        return DirectUpload(*row) if row else None

    def complete(self, connection: Connection, key: str, file_id: str) -> None:
        """Store the file of a completed upload. The caller has already used up the reservation."""
        statement = update(direct_uploads).where(direct_uploads.c.key == key)
        connection.execute(statement.values(file_id=file_id))

    def cancel(self, connection: Connection, key: str) -> None:
        """Delete an upload and release its reservation."""
        if upload := self.find(connection, key, lock=True):
            self._remove(connection, upload)

    def end_expired(self, connection: Connection, tenant_id: str | None = None) -> int:
        """Delete one batch of expired uploads, of all tenants or of one, and return their number."""
        expired = direct_uploads.c.expires_at <= self._clock.now()
        query = select(direct_uploads).where(expired).limit(_BATCH)
        if tenant_id is not None:
            query = query.where(direct_uploads.c.tenant_id == tenant_id)
        rows = connection.execute(query.with_for_update(skip_locked=True)).all()
        for row in rows:
            self._remove(connection, DirectUpload(*row))
        return len(rows)

    def _require_few(self, connection: Connection, user_id: str) -> None:
        now = self._clock.now()
        is_open = (
            direct_uploads.c.user_id == user_id,
            direct_uploads.c.file_id.is_(None),
            direct_uploads.c.expires_at > now,
        )
        query = select(func.count(), func.min(direct_uploads.c.expires_at)).where(*is_open)
        count, first_end = connection.execute(query).one()
        if count >= self._max_open:
            message = f"You have {count} open direct uploads; complete some or wait."
            raise TooManyRequests(message, retry_after=max(1, (first_end - now) // 1000))

    def _remove(self, connection: Connection, upload: DirectUpload) -> None:
        connection.execute(delete(direct_uploads).where(direct_uploads.c.key == upload.key))
        if upload.file_id is None:
            self._space.reserve(connection, upload.tenant_id, -upload.size)
