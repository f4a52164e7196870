"""Limits what announced uploads of visitors reserve.

A visitor has no rights: a plugin uses the rights of a user within limits. An
announcement costs a visitor nothing, so it reserves only what has arrived and a few bytes ahead.
"""

from dataclasses import dataclass, replace
from typing import Final

from sqlalchemy import Connection, bindparam, func, select

from strongroom.clock import Clock
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.quota import Quota
from strongroom.extensions.uploads.repository import Upload, uploads
from strongroom.foundation.addresses import get_network
from strongroom.foundation.caller import AnyCaller, DelegatedLimits
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import TooManyOpenUploads
from strongroom.foundation.secret_keys import SecretKeys

AHEAD_BYTES: Final = 8 * 1024 * 1024
"""Bytes that an upload reserves beyond the received ones."""

IDLE_MILLISECONDS: Final = 60 * 60 * 1000
"""An upload expires after this time without progress."""

MAX_OPEN: Final = 4
"""Unfinished uploads of one network into one shared file or folder."""

_PART_OF_FREE: Final = 10

_OF_SHARE: Final = (
    uploads.c.tenant_id == bindparam("tenant_id"),
    uploads.c.shared_id == bindparam("shared_id"),
    uploads.c.file_id.is_(None),
)
_AHEAD: Final = Statement(
    select(func.coalesce(func.sum(uploads.c.reserved_bytes - uploads.c.received), 0)).where(
        *_OF_SHARE, uploads.c.id != bindparam("upload_id")
    )
)


_OPEN: Final = Statement(
    select(func.count(), func.coalesce(func.min(uploads.c.expires_at), 0)).where(
        *_OF_SHARE,
        uploads.c.announcer == bindparam("announcer"),
        uploads.c.expires_at > bindparam("now"),
    )
)


@dataclass(slots=True, eq=False, repr=False)
class VisitorUploads:
    """Counts visitors' unfinished uploads, and computes their reservations.

    Args:
        lifetime: milliseconds after which any upload without progress expires.
    """

    _clock: Clock
    _keys: SecretKeys
    _quota: Quota
    _memberships: Memberships
    _lifetime: int

    def announced(self, caller: AnyCaller, upload: Upload) -> Upload:
        """Return a new upload, with its announcer if the caller's rights are delegated."""
        limits = caller.key
        if not isinstance(limits, DelegatedLimits):
            return upload
        announcer = self._keys.hash("visitor uploads", get_network(caller.address or ""))
        visitors = replace(
            upload, reserved_bytes=0, shared_id=limits.folder_id or "", announcer=announcer
        )
        return replace(visitors, expires_at=self._end(visitors))

    def reserve_first(self, connection: Connection, upload: Upload) -> Upload:
        """Reserve the first bytes of a visitor's new upload, and return the upload.

        Raises:
            TooManyOpenUploads: the visitor has as many unfinished uploads into the share as allowed.
            StorageFull: the tenant's quota is exceeded.
        """
        # Concurrent announcements are counted one by one.
        self._memberships.lock_tenant(connection, upload.tenant_id)
        self._require_few(connection, upload)
        return self._reserve(connection, upload, 0)

    def advance(self, connection: Connection, upload: Upload, received: int) -> Upload:
        """Return an upload with more received bytes and a later expiry; reserve a visitor's bytes.

        Raises:
            StorageFull: the received bytes exceed the tenant's quota.
        """
        if upload.shared_id is not None:
            self._memberships.lock_tenant(connection, upload.tenant_id)
            upload = self._reserve(connection, upload, received)
        return replace(upload, received=received, expires_at=self._end(upload))

    def _end(self, upload: Upload) -> int:
        idle = self._lifetime if upload.shared_id is None else min(self._lifetime, IDLE_MILLISECONDS)
        return self._clock.now() + idle

    def _require_few(self, connection: Connection, upload: Upload) -> None:
        now = self._clock.now()
        named = {"shared_id": upload.shared_id, "announcer": upload.announcer, "now": now}
        ((count, first_end),) = _OPEN.all(connection, {"tenant_id": upload.tenant_id, **named})
        if count >= MAX_OPEN:
            raise TooManyOpenUploads(retry_after=max(1, (first_end - now) // 1000))

    def _reserve(self, connection: Connection, upload: Upload, received: int) -> Upload:
        reserved = received + self._bytes_ahead(connection, upload, received)
        self._quota.reserve(connection, upload.tenant_id, reserved - upload.reservation)
        return replace(upload, reserved_bytes=reserved)

    def _bytes_ahead(self, connection: Connection, upload: Upload, received: int) -> int:
        """Return the bytes to reserve beyond the received ones.

        All unfinished uploads into one share reserve at most a tenth of the free quota ahead.
        """
        most = min(AHEAD_BYTES, upload.size - received)
        tenant = self._quota.find(connection, upload.tenant_id)
        if tenant.quota_bytes is None:
            return most
        named = {"shared_id": upload.shared_id, "upload_id": upload.id}
        ((others,),) = _AHEAD.all(connection, {"tenant_id": upload.tenant_id, **named})
        used = tenant.used_bytes + tenant.reserved_bytes - upload.reservation + received
        free = tenant.quota_bytes - used + int(others)
        return max(0, min(most, free // _PART_OF_FREE - int(others)))
