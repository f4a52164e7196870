"""Begins uploads, lets their beginners go on with them, and gives them up.

The offset that a client is told is what is durably stored. The last bytes count only together with the
file that they complete: whoever is told that all has arrived need not ask whether it became a file.
"""

import io
from collections.abc import Callable
from dataclasses import replace

from sqlalchemy import Connection

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.errors import Forbidden, OffsetConflict, PayloadTooLarge
from strongroom.files.filing import Filing, Target
from strongroom.files.names import normalize_name
from strongroom.identity import Identity
from strongroom.ids import new_id
from strongroom.storage.models import Released
from strongroom.storage.service import BlobService
from strongroom.tenants.quota import Quota
from strongroom.uploads.chunk_writer import Piece, Reception
from strongroom.uploads.models import Upload
from strongroom.uploads.repository import Ledger


class UploadService:
    """Resumable uploads.

    Args:
        database: where they are kept.
        clock: the time.
        ledger: the record of them.
        filing: takes what they become.
        blobs: keeps bytes.
        space: how much tenants may keep.
        reception: stores the bytes of requests.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        ledger: Ledger,
        filing: Filing,
        blobs: BlobService,
        space: Quota,
        reception: Reception,
    ) -> None:
        self._database = database
        self._clock = clock
        self._ledger = ledger
        self._filing = filing
        self._blobs = blobs
        self._space = space
        self._reception = reception

    @property
    def max_size(self) -> int:
        """The largest upload that is accepted, in bytes."""
        return self._filing.max_file_bytes

    def create(
        self, identity: Identity, target: Target, size: int, metadata: str, piece: Piece | None = None
    ) -> Upload:
        """Begin an upload; its size is reserved in the tenant's space.

        Args:
            identity: the caller.
            target: where the file is to go.
            size: how many bytes it will have.
            metadata: what the client says of it, word for word.
            piece: the first of its bytes, if they come at once; an empty file is whole without any.

        Raises:
            Forbidden: the caller is no member, or may not write there.
            NotFound: there is no such folder.
            NotAFolder: it is a file.
            NameConflict: the name is taken.
            PayloadTooLarge: the file is larger than allowed.
            StorageFull: the tenant's quota would be exceeded.
        """
        target = replace(target, name=normalize_name(target.name))
        upload = Upload(
            id=new_id(),
            tenant_id=target.tenant_id,
            user_id=identity.user_id,
            parent_id=target.parent_id,
            name=target.name,
            on_conflict=target.on_conflict.value,
            metadata=metadata,
            size=size,
            received=0,
            file_id=None,
            lease=None,
            lease_until=0,
            expires_at=self._clock.now() + self._ledger.lifetime,
        )
        with self._database.write() as connection:
            self._filing.admit(connection, identity, target, size)
            self._space.reserve(connection, target.tenant_id, size)
            self._ledger.add(connection, upload)
        if piece is None and size > 0:
            return upload
        return self._begin(identity, upload, piece or Piece(io.BytesIO(), 0, None))

    def get(self, identity: Identity, tenant_id: str, upload_id: str) -> Upload:
        """Return an upload of the caller's.

        Raises:
            Forbidden: the caller is no member of the tenant, or did not begin it.
            NotFound: there is no such upload, or it was given up.
        """
        with self._database.read() as connection:
            return self._own(connection, identity, tenant_id, upload_id, lock=False)

    def append(
        self, identity: Identity, tenant_id: str, upload_id: str, offset: int, piece: Piece
    ) -> Upload:
        """Store bytes of an upload, as many as arrive; with its last one it becomes a file.

        Raises:
            Forbidden: the caller did not begin it, or may no longer write to the folder.
            NotFound: there is no such upload or folder, or it was given up.
            OffsetConflict: the upload goes on elsewhere than at ``offset``.
            UploadLocked: somebody else is writing to it.
            PayloadTooLarge: there are more bytes than were announced at its beginning.
            ChecksumMismatch: the bytes do not hash to what was said; none of them is kept.
            UploadIncomplete: some are missing of what hashes to it; none is kept.
            NameConflict: the name was taken meanwhile.
            StorageFull: there is no room.
        """
        with self._database.write() as connection:
            upload = self._own(connection, identity, tenant_id, upload_id)
            self._filing.require_folder(connection, identity, tenant_id, upload.parent_id)
            _require_fit(upload, offset, piece)
            if upload.is_finished:
                return upload
            lease = self._ledger.lend(connection, upload)
        try:
            return self._reception.receive(identity, upload, lease, piece)
        finally:
            with self._database.write() as connection:
                self._ledger.give_back(connection, upload.id, lease)

    def terminate(self, identity: Identity, tenant_id: str, upload_id: str) -> None:
        """Give an upload up at its beginner's wish; the file it may have become stays.

        Raises:
            Forbidden: the caller is no member of the tenant, or did not begin it.
            NotFound: there is no such upload, or it was given up.
        """
        with self._database.write() as connection:
            upload = self._own(connection, identity, tenant_id, upload_id)
            released = self._drop(connection, upload)
        self._blobs.remove(released)

    def collect(self) -> int:
        """Give up what has expired, and return how many uploads that were.

        Safe beside running servers; the bytes are left to the collection of blobs.
        """
        return self._drop_all(self._ledger.next_expired)

    def drop_all(self, tenant_id: str) -> int:
        """Give up all uploads to a tenant, and return how many there were.

        The bytes are left to the collection of blobs.
        """
        return self._drop_all(lambda connection: self._ledger.next_of_tenant(connection, tenant_id))

    def _drop_all(self, next_one: Callable[[Connection], Upload | None]) -> int:
        count = 0
        while True:
            with self._database.write() as connection:
                upload = next_one(connection)
                if upload is None:
                    return count
                self._drop(connection, upload)
            count += 1

    def _begin(self, identity: Identity, upload: Upload, piece: Piece) -> Upload:
        try:
            return self.append(identity, upload.tenant_id, upload.id, 0, piece)
        except BaseException:
            # Its name is told with the success of the request only.
            self.terminate(identity, upload.tenant_id, upload.id)
            raise

    def _own(
        self,
        connection: Connection,
        identity: Identity,
        tenant_id: str,
        upload_id: str,
        *,
        lock: bool = True,
    ) -> Upload:
        self._filing.require_folder(connection, identity, tenant_id, None)
        upload = self._ledger.find(connection, tenant_id, upload_id, lock=lock)
        if upload.user_id != identity.user_id:
            raise Forbidden
        return upload

    def _drop(self, connection: Connection, upload: Upload) -> list[Released]:
        parts = self._ledger.parts(connection, upload.id)
        self._ledger.remove(connection, upload.id)
        if not upload.is_finished:
            self._space.reserve(connection, upload.tenant_id, -upload.size)
        return self._blobs.release(connection, [part.blob_key for part in parts])


def _require_fit(upload: Upload, offset: int, piece: Piece) -> None:
    if offset != upload.received:
        raise OffsetConflict
    if piece.size is not None and offset + piece.size > upload.size:
        raise PayloadTooLarge("There are more bytes than the upload's length.")
