"""Stores uploads, their parts and their leases, within the caller's transaction.

A request that writes to an upload holds its lease, which expires unless it is renewed. So a crashed
writer, or one that hangs on a dead connection, blocks other requests only until the lease expires. A
writer without the lease cannot change the upload.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Index,
    String,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    select,
    update,
)

from strongroom.clock import Clock
from strongroom.content.storage.models import Blob
from strongroom.foundation.database.leases import RowLease
from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper, get_columns
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound, UploadLocked
from strongroom.foundation.ids import new_id
from strongroom.plugin_api.deactivation import Deactivation


@dataclass(frozen=True, slots=True)
class Upload:
    """A row of :data:`uploads`.

    Args:
        id: id of the upload.
        tenant_id: the tenant whose quota is reserved.
        user_id: the user who created it; only this user may continue it.
        parent_id: the folder of the file; ``None`` at the top level.
        name: name of the file.
        folders: names of the folders below ``parent_id``, separated by ``/``; missing ones are created
            with the file. ``None``: there are none.
        on_conflict: rule for a taken name.
        metadata: the client's ``Upload-Metadata``, unchanged.
        size: total size in bytes.
        received: number of bytes that are durably stored.
        file_id: the file that was created from it; ``None`` until it is complete.
        lease: id of the lease that a request holds while it writes.
        lease_until: when the lease expires.
        expires_at: when the upload expires.
        reserved_bytes: bytes of the tenant's quota that a visitor's upload reserves; ``None``: its size.
        shared_id: the file or folder that the visitor's rights are limited to; ``None`` for users.
        announcer: keyed hash of the visitor's network; ``None`` for users.
    """

    id: str
    tenant_id: str
    user_id: str
    parent_id: str | None
    name: str
    on_conflict: str
    metadata: str
    size: int
    received: int
    file_id: str | None
    lease: str | None
    lease_until: int
    expires_at: int
    folders: str | None = None
    reserved_bytes: int | None = None
    shared_id: str | None = None
    announcer: str | None = None

    @property
    def reservation(self) -> int:
        """Bytes of the tenant's quota that the unfinished upload reserves."""
        return self.size if self.reserved_bytes is None else self.reserved_bytes

    @property
    def is_finished(self) -> bool:
        """Whether the file was created."""
        return self.file_id is not None


uploads: Final = Table(
    "uploads",
    metadata,
    Column("id", Id, primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id"), nullable=False),
    Column("user_id", Id, ForeignKey("users.id"), nullable=False),
    Column("parent_id", Id),
    Column("name", Name, nullable=False),
    Column("on_conflict", String(16), nullable=False),
    Column("metadata", Text, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("received", BigInteger, nullable=False),
    Column("file_id", Id),
    Column("lease", Id),
    Column("lease_until", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("folders", Text),
    Column("reserved_bytes", BigInteger),
    Column("shared_id", Id),
    Column("announcer", String(64)),
    Index(None, "expires_at"),
    Index(None, "tenant_id"),
    Index(None, "user_id"),
    Index(None, "shared_id"),
)
"""Neither folder nor file is a foreign key, because both may be deleted before the upload expires."""

upload_parts: Final = Table(
    "upload_parts",
    metadata,
    Column("upload_id", Id, ForeignKey("uploads.id"), primary_key=True),
    Column("start", BigInteger, primary_key=True, autoincrement=False),
    Column("blob_key", String(64), ForeignKey("blobs.key"), nullable=False),
    Column("size", BigInteger, nullable=False),
    Index(None, "blob_key"),
)
"""Each part is a committed blob: it is acknowledged to the client, and removed only with the upload."""


LEASE: Final = 20_000
"""Lifetime of a lease in milliseconds, unless it is renewed."""


@dataclass(frozen=True, slots=True)
class UploadPart:
    """A contiguous part of an upload, stored as one blob. ``size`` is in bytes."""

    blob_key: str
    size: int


_UPLOAD: Final = RowMapper(Upload, uploads)
_OF_ID: Final = uploads.c.id == bindparam("of_id")
_OF_TENANT: Final = uploads.c.tenant_id == bindparam("of_tenant")
_ROW: Final = RowLease(
    uploads.c.id, owner=uploads.c.lease, until=uploads.c.lease_until, milliseconds=LEASE
)
_SELECT: Final = select(uploads).where(_OF_ID, _OF_TENANT, uploads.c.expires_at > bindparam("now"))

_ADD: Final = Statement(insert(uploads))
_FIND: Final = Statement(_SELECT, _UPLOAD)
_FIND_LOCKED: Final = Statement(_SELECT.with_for_update(), _UPLOAD)
_CLAIM: Final = Statement(_ROW.claim())
_RENEW: Final = Statement(_ROW.renew())
_END: Final = Statement(_ROW.end())
_ADVANCE: Final = Statement(
    _ROW.renew().values(
        received=bindparam("new_received"),
        reserved_bytes=bindparam("new_reserved"),
        expires_at=bindparam("expiry"),
    )
)
_FINISH: Final = Statement(
    _ROW.end().values(
        received=bindparam("new_received"),
        file_id=bindparam("new_file"),
        expires_at=bindparam("expiry"),
    )
)
_EXPIRE_ALL: Final = (
    update(uploads).where(uploads.c.user_id == bindparam("of_user")).values(**_ROW.freed, expires_at=0)
)
_EXPIRE: Final = Statement(_EXPIRE_ALL)
_EXPIRE_IN_TENANT: Final = Statement(_EXPIRE_ALL.where(_OF_TENANT))
_REMOVE: Final = Statement(delete(uploads).where(_OF_ID))
# An active lease means that a request is still writing, so its upload is not removed.
_NEXT_EXPIRED: Final = Statement(
    _ROW.claimable().where(uploads.c.expires_at <= bindparam("now"), _ROW.is_free).limit(1), _UPLOAD
)
_NEXT_OF_TENANT: Final = Statement(select(uploads).where(_OF_TENANT).limit(1).with_for_update(), _UPLOAD)
_OF_UPLOAD: Final = upload_parts.c.upload_id == bindparam("of_id")
_ADD_PART: Final = Statement(insert(upload_parts))
_PARTS: Final = Statement(
    select(*get_columns(UploadPart, upload_parts)).where(_OF_UPLOAD).order_by(upload_parts.c.start),
    UploadPart,
)
_FORGET_PARTS: Final = Statement(delete(upload_parts).where(_OF_UPLOAD))


@dataclass(slots=True, eq=False, repr=False)
class UploadRepository:
    """Repository of uploads and their parts.

    Args:
        lifetime: milliseconds after which an upload without progress expires.
    """

    _clock: Clock
    lifetime: int

    def add(self, connection: Connection, upload: Upload) -> None:
        """Store a new upload."""
        _ADD.execute(connection, _UPLOAD.values(upload))

    def find(
        self, connection: Connection, tenant_id: str, upload_id: str, *, lock: bool = True
    ) -> Upload:
        """Return an upload; ``lock`` blocks changes by other transactions until this one ends.

        Raises:
            NotFound: the tenant has no such upload, or it has expired.
        """
        parameters = {"of_id": upload_id, "of_tenant": tenant_id, "now": self._clock.now()}
        upload = (_FIND_LOCKED if lock else _FIND).first(connection, parameters)
        if upload is None:
            raise NotFound
        return upload

    def acquire_lease(self, connection: Connection, upload: Upload) -> str:
        """Acquire the lease of an upload, and return its id.

        Raises:
            UploadLocked: another request has the lease.
        """
        lease = new_id()
        self._change(connection, _CLAIM, upload.id, lease)
        return lease

    def renew(self, connection: Connection, upload_id: str, lease: str) -> None:
        """Renew a lease. An expired lease can be renewed unless another request has acquired it.

        Raises:
            UploadLocked: another request holds the lease, or the upload was removed.
        """
        self._change(connection, _RENEW, upload_id, lease)

    def release_lease(self, connection: Connection, upload_id: str, lease: str) -> None:
        """Release a lease, unless another request has acquired it."""
        _END.execute(connection, {"of_id": upload_id, "owner": lease})

    def advance(self, connection: Connection, upload: Upload, lease: str, blob: Blob) -> None:
        """Store the last part of an upload, and renew the lease.

        Args:
            upload: the upload with the part.

        Raises:
            UploadLocked: another request holds the lease, or the upload was removed.
        """
        changes = {
            "new_received": upload.received,
            "new_reserved": upload.reserved_bytes,
            "expiry": upload.expires_at,
        }
        self._change(connection, _ADVANCE, upload.id, lease, changes)
        start = upload.received - blob.size
        part = {"start": start, "blob_key": blob.key, "size": blob.size}
        _ADD_PART.execute(connection, {"upload_id": upload.id, **part})

    def parts(self, connection: Connection, upload_id: str) -> list[UploadPart]:
        """Return the parts of an upload, in order."""
        return _PARTS.all(connection, {"of_id": upload_id})

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
        changes = {
            "new_received": finished.received,
            "new_file": finished.file_id,
            "expiry": finished.expires_at,
        }
        self._change(connection, _FINISH, upload.id, lease, changes)
        _FORGET_PARTS.execute(connection, {"of_id": upload.id})
        return finished

    def remove(self, connection: Connection, upload_id: str) -> None:
        """Delete an upload and the rows of its parts."""
        # The parts first, because they refer to the upload.
        _FORGET_PARTS.execute(connection, {"of_id": upload_id})
        _REMOVE.execute(connection, {"of_id": upload_id})

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Let the uploads of a user expire, in all tenants or in one, and take the leases of writers.

        Pruning removes them, because releasing quota here would lock the rows of many tenants.
        """
        named = {"of_user": ended.user_id, "of_tenant": ended.tenant_id}
        (_EXPIRE if ended.is_of_account else _EXPIRE_IN_TENANT).execute(connection, named)

    def next_expired(self, connection: Connection) -> Upload | None:
        """Return and lock an expired upload without an active lease, or return ``None``.

        Uploads that another transaction has locked are skipped, so servers can prune concurrently.
        """
        return _NEXT_EXPIRED.first(connection, {"now": self._clock.now()})

    def next_of_tenant(self, connection: Connection, tenant_id: str) -> Upload | None:
        """Return and lock an upload of a tenant, even one with an active lease, or return ``None``."""
        # The tenant is being purged, so active writers are not spared.
        return _NEXT_OF_TENANT.first(connection, {"of_tenant": tenant_id})

    def _change(
        self,
        connection: Connection,
        statement: Statement[Any],
        upload_id: str,
        lease: str,
        changes: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        key = {"of_id": upload_id, "owner": lease, **_ROW.term(self._clock.now())}
        if statement.execute(connection, {**key, **changes}) != 1:
            raise UploadLocked(retry_after=1)
