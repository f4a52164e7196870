"""Creates, continues, terminates and expires resumable uploads.

The reported offset is the number of durably stored bytes. The last part is committed in the same
transaction as the file, so an offset equal to the size means that the file exists.
"""

import io
from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from strongroom.clock import Clock
from strongroom.content.nodes.destinations import Target
from strongroom.content.nodes.file_writer import FileWriter
from strongroom.content.nodes.names import normalize_name
from strongroom.content.storage.models import Released
from strongroom.content.storage.service import BlobService
from strongroom.content.tenants.quota import Quota
from strongroom.extensions.uploads.chunk_writer import ChunkWriter, Piece
from strongroom.extensions.uploads.repository import Upload, UploadRepository
from strongroom.extensions.uploads.visitors import VisitorUploads
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.errors import Forbidden, OffsetConflict, PayloadTooLarge
from strongroom.foundation.ids import new_id


@dataclass(slots=True, eq=False, repr=False)
class UploadService:
    """Creates, continues and deletes resumable uploads.

    Args:
        repository: stores uploads, parts and leases.
    """

    _database: Database
    _clock: Clock
    _repository: UploadRepository
    _file_writer: FileWriter
    _blobs: BlobService
    _quota: Quota
    _writer: ChunkWriter
    _visitors: VisitorUploads

    @property
    def max_size(self) -> int:
        """Maximum size of an upload, in bytes."""
        return self._file_writer.rules.max_file_bytes

    def create(
        self,
        caller: AnyCaller,
        target: Target,
        size: int,
        metadata: str,
        piece: Piece | None = None,
    ) -> Upload:
        """Create an upload, and reserve its size in the tenant's quota.

        The upload of a visitor, by rights that a plugin delegates, reserves less; see
        :class:`VisitorUploads`.

        An empty upload is completed immediately.

        Args:
            target: destination of the file.
            size: total size in bytes.
            metadata: the client's ``Upload-Metadata``, unchanged.
            piece: the first bytes, if the creation request contains any.

        Raises:
            ValidationFailed: the name is invalid.
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the folder does not exist.
            NotAFolder: the parent is a file.
            NameConflict: the name is taken.
            PayloadTooLarge: the file is larger than allowed.
            StorageFull: the tenant's quota would be exceeded.
            TooManyOpenUploads: the visitor has too many unfinished uploads into the share.
        """
        target = replace(target, name=normalize_name(target.name))
        upload = Upload(
            id=new_id(),
            tenant_id=target.tenant_id,
            user_id=caller.user_id,
            parent_id=target.parent_id,
            name=target.name,
            on_conflict=target.on_conflict.value,
            metadata=metadata,
            size=size,
            received=0,
            file_id=None,
            lease=None,
            lease_until=0,
            expires_at=self._clock.now() + self._repository.lifetime,
            folders="/".join(target.folders) or None,
        )
        upload = self._visitors.announced(caller, upload)
        with self._database.write() as connection:
            self._file_writer.rules.check(connection, caller, target, size)
            upload = self._reserved(connection, upload)
            self._repository.add(connection, upload)
        if piece is None and size > 0:
            return upload
        return self._begin(caller, upload, piece or Piece(io.BytesIO(), 0, None))

    def get(self, caller: AnyCaller, tenant_id: str, upload_id: str) -> Upload:
        """Return an upload of the caller.

        Raises:
            Forbidden: the caller is not a member of the tenant, or did not create the upload.
            NotFound: the upload does not exist or has expired.
        """
        with self._database.read() as connection:
            return self._own(connection, caller, tenant_id, upload_id, lock=False)

    def append(
        self, caller: AnyCaller, tenant_id: str, upload_id: str, offset: int, piece: Piece
    ) -> Upload:
        """Append the received bytes to an upload; the last byte completes it and creates the file.

        Raises:
            Forbidden: the caller did not create the upload, or may no longer write to the folder.
            NotFound: the upload or the folder does not exist, or the upload has expired.
            OffsetConflict: ``offset`` is not the upload's current offset.
            UploadLocked: another request is writing to the upload.
            PayloadTooLarge: the body exceeds the upload's length.
            ChecksumMismatch: the body does not match its checksum; none of it is stored.
            UploadIncomplete: a body with a checksum is incomplete; none of it is stored.
            UnsupportedMediaType: files of its type are not accepted.
            NameConflict: the name is taken.
            StorageFull: the storage is exhausted.
        """
        with self._database.write() as connection:
            upload = self._own(connection, caller, tenant_id, upload_id)
            self._file_writer.access.require_parent(connection, caller, tenant_id, upload.parent_id)
            _require_fit(upload, offset, piece)
            # A client that has lost the response of the last request repeats it.
            if upload.is_finished:
                return upload
            lease = self._repository.acquire_lease(connection, upload)
        # A lease instead of a row lock, because no transaction may stay open while the body arrives.
        try:
            return self._writer.receive(caller, upload, lease, piece)
        finally:
            with self._database.write() as connection:
                self._repository.release_lease(connection, upload.id, lease)

    def terminate(self, caller: AnyCaller, tenant_id: str, upload_id: str) -> None:
        """Delete an upload of the caller; a file that was created from it remains.

        Raises:
            Forbidden: the caller is not a member of the tenant, or did not create the upload.
            NotFound: the upload does not exist or has expired.
        """
        with self._database.write() as connection:
            upload = self._own(connection, caller, tenant_id, upload_id)
            released = self._drop(connection, upload)
        self._blobs.remove(released)

    def collect(self) -> int:
        """Delete expired uploads, and return their number.

        Safe while servers are running. The blob garbage collection removes their content.
        """
        return self._drop_all(self._repository.next_expired)

    def drop_all(self, tenant_id: str) -> int:
        """Delete all uploads of a tenant, and return their number.

        The blob garbage collection removes their content.
        """
        return self._drop_all(lambda connection: self._repository.next_of_tenant(connection, tenant_id))

    def _drop_all(self, next_one: Callable[[Connection], Upload | None]) -> int:
        # One transaction per upload keeps the write locks short.
        count = 0
        while True:
            with self._database.write() as connection:
                upload = next_one(connection)
                if upload is None:
                    return count
                self._drop(connection, upload)
            count += 1

    def _reserved(self, connection: Connection, upload: Upload) -> Upload:
        if upload.shared_id is not None:
            return self._visitors.reserve_first(connection, upload)
        # Reserved at the creation, so that parallel uploads cannot exceed the quota together.
        self._quota.reserve(connection, upload.tenant_id, upload.size)
        return upload

    def _begin(self, caller: AnyCaller, upload: Upload, piece: Piece) -> Upload:
        try:
            return self.append(caller, upload.tenant_id, upload.id, 0, piece)
        except BaseException:
            # The client learns the upload's URL only if the request succeeds, so it cannot resume it.
            self.terminate(caller, upload.tenant_id, upload.id)
            raise

    def _own(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        upload_id: str,
        *,
        lock: bool = True,
    ) -> Upload:
        # Checks the membership first, so that non-members cannot find out which uploads exist.
        control = self._file_writer.access
        access = control.find(connection, caller, tenant_id, None)
        access.require_member()
        upload = self._repository.find(connection, tenant_id, upload_id, lock=lock)
        if upload.user_id != caller.user_id:
            raise Forbidden
        # The user may have begun it outside of the folder of the access key.
        if access.key is not None:
            control.require_parent(connection, caller, tenant_id, upload.parent_id)
        return upload

    def _drop(self, connection: Connection, upload: Upload) -> list[Released]:
        parts = self._repository.parts(connection, upload.id)
        self._repository.remove(connection, upload.id)
        # A finished upload has already converted its reservation into usage.
        if not upload.is_finished:
            self._quota.reserve(connection, upload.tenant_id, -upload.reservation)
        return self._blobs.release(connection, [part.blob_key for part in parts], at_once=True)


def _require_fit(upload: Upload, offset: int, piece: Piece) -> None:
    if offset != upload.received:
        raise OffsetConflict
    if piece.size is not None and offset + piece.size > upload.size:
        raise PayloadTooLarge("The body exceeds the upload's length.")
