"""Lets clients send files to the store by themselves, and makes files of what has arrived.

What was agreed on travels with the client, sealed; that it is used once is seen to by the row of the
bytes, which counts once. Size, digest, permission and quota hold when the upload is completed.
"""

import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final

from strongroom.clock import Clock
from strongroom.errors import (
    DigestMismatch,
    NotFound,
    NotImplementedHere,
    PayloadTooLarge,
    UploadIncomplete,
)
from strongroom.files.access import NodeView
from strongroom.files.filing import OnConflict, Target
from strongroom.files.names import normalize_name
from strongroom.files.service import FileService
from strongroom.identity import Identity
from strongroom.plugin_api.storage import ByteSource, ObjectNotFound, SignedRequest, SignedUploads
from strongroom.secret_keys import SecretKeys
from strongroom.storage.service import BlobService

_PURPOSE: Final = "direct-upload"

# What was begun while its URL held may end, and clocks differ.
_MARGIN: Final = 3600 * 1000


@dataclass(frozen=True, slots=True)
class Announcement:
    """A file that a client wants to send. ``checksum`` is its SHA-256 in hexadecimal digits."""

    tenant_id: str
    parent_id: str | None
    name: str
    size: int
    checksum: str
    on_conflict: OnConflict

    @property
    def target(self) -> Target:
        """Where the file is to go."""
        name = normalize_name(self.name)
        return Target(self.tenant_id, self.parent_id, name, self.on_conflict)


@dataclass(frozen=True, slots=True)
class Invitation:
    """What the client is to send, and by what name to complete it."""

    upload_id: str
    request: SignedRequest
    expires_at: int


@dataclass(slots=True)
class _Arrival:
    """What has arrived, as an upload like any other."""

    name: str
    source: ByteSource
    size: int | None
    checksum: str

    def check(self, checksum: str) -> None:
        if not hmac.compare_digest(checksum, self.checksum):
            raise DigestMismatch


class DirectUploads:
    """Uploads around the server.

    Args:
        clock: the time.
        keys: seals what clients carry.
        files: makes files.
        blobs: keeps bytes.
        lifetimes: seconds for which requests are signed, by the storages that allow this.
    """

    def __init__(
        self,
        clock: Clock,
        keys: SecretKeys,
        files: FileService,
        blobs: BlobService,
        *,
        lifetimes: Mapping[str, int],
    ) -> None:
        self._clock = clock
        self._keys = keys
        self._files = files
        self._blobs = blobs
        self._lifetimes = lifetimes

    def begin(self, identity: Identity, announcement: Announcement) -> Invitation:
        """Sign a request that stores the bytes announced.

        Raises:
            NotImplementedHere: the storage of new files does not take part.
            Forbidden: the caller is no member, or may not write there.
            NotFound: there is no such folder.
            NotAFolder: it is a file.
            NameConflict: the name is taken.
            PayloadTooLarge: the file is larger than allowed, or than one request can store.
            StorageFull: the tenant's quota would be exceeded.
        """
        lifetime = self._lifetimes.get(self._blobs.target)
        store = self._blobs.storages[self._blobs.target]
        backend = store.backend
        if lifetime is None or not isinstance(backend, SignedUploads):
            raise NotImplementedHere
        if announcement.size > backend.max_size:
            raise PayloadTooLarge
        self._files.admit(identity, announcement.target, announcement.size)
        store.require_ownership()
        expires_at = self._clock.now() + lifetime * 1000
        key = self._blobs.announce(self._blobs.target, expires_at + _MARGIN)
        request = backend.upload_request(key, lifetime=lifetime, size=announcement.size)
        ticket = {"key": key, "user": identity.user_id, "agreed": asdict(announcement)}
        return Invitation(self._keys.seal(_PURPOSE, json.dumps(ticket)), request, expires_at)

    def complete(self, identity: Identity, tenant_id: str, upload_id: str) -> NodeView:
        """Make a file of what has arrived. It is durable when this returns.

        Raises:
            NotFound: no such upload was begun here by the caller, or it has ended.
            UploadIncomplete: nothing has arrived yet; it may be completed later.
            Forbidden: the caller may no longer write there.
            NameConflict: the name is taken.
            DigestMismatch: what arrived is not what was announced.
            StorageFull: the tenant's quota would be exceeded.
        """
        key, agreed = self._open(identity, tenant_id, upload_id)
        if not self._blobs.is_pending(key):
            raise NotFound
        try:
            with self._blobs.arrived(key) as source:
                arrival = _Arrival(agreed.name, source, agreed.size, agreed.checksum)
                return self._files.upload(
                    identity, tenant_id, agreed.parent_id, arrival, agreed.on_conflict
                )
        except ObjectNotFound as error:
            raise UploadIncomplete from error

    def _open(self, identity: Identity, tenant_id: str, upload_id: str) -> tuple[str, Announcement]:
        try:
            ticket = json.loads(self._keys.unseal(_PURPOSE, upload_id))
        except ValueError as error:
            raise NotFound from error
        agreed = Announcement(**ticket["agreed"])
        if (ticket["user"], agreed.tenant_id) != (identity.user_id, tenant_id):
            raise NotFound
        return ticket["key"], agreed
