"""Uploads from the client directly to a store, by signed URLs.

The upload id is a sealed token with the upload's parameters. The database row reserves quota until the
upload is completed or expires, and stores the created file, so a client that lost the response may
complete the upload again. Size, digest, permission and quota are checked on completion.
"""

import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from operator import attrgetter
from typing import Final

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    ForeignKey,
    Index,
    String,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from strongroom.clock import Clock
from strongroom.content.files.service import FileService
from strongroom.content.nodes.access import NodeView
from strongroom.content.nodes.destinations import OnConflict, Target
from strongroom.content.nodes.file_writer import FileWriter
from strongroom.content.nodes.names import normalize_name
from strongroom.content.storage.service import BlobService, ReceivedBlob
from strongroom.content.tenants.quota import Quota
from strongroom.foundation import errors
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.storage import ObjectNotFound, SignedRequest, SignedUploads, StorageError
from strongroom.plugin_api.web import ApiError


@dataclass(frozen=True, slots=True)
class DirectUpload:
    """A row of :data:`direct_uploads`.

    Args:
        key: key of the blob that the client uploads.
        tenant_id: the tenant whose quota is reserved.
        size: reserved bytes, until it is completed or expires.
        file_id: the file that was created from it.
        expires_at: when it expires; a completed upload is stored until then, so it can be repeated.
    """

    key: str
    tenant_id: str
    user_id: str
    size: int
    file_id: str | None
    expires_at: int


direct_uploads: Final = Table(
    "direct_uploads",
    metadata,
    Column("key", String(64), primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("file_id", Id),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "tenant_id"),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)
"""Neither blob nor file is a foreign key, because both may be deleted before the row expires."""


_BATCH: Final = 200

_OF_KEY: Final = direct_uploads.c.key == bindparam("of_key")
_SELECT: Final = select(direct_uploads).where(_OF_KEY)
_IS_OPEN: Final = direct_uploads.c.expires_at > bindparam("now")
# Processes that prune at the same time take different uploads.
_SELECT_EXPIRED: Final = (
    select(direct_uploads)
    .where(direct_uploads.c.expires_at <= bindparam("now"))
    .limit(_BATCH)
    .with_for_update(skip_locked=True)
)
_ADD: Final = Statement(insert(direct_uploads))
_FIND: Final = Statement(_SELECT.where(_IS_OPEN), DirectUpload)
# The lock keeps pruning from removing an upload while its completion creates the file.
_LOCK_OPEN: Final = Statement(_SELECT.where(_IS_OPEN).with_for_update(), DirectUpload)
_FIND_LOCKED: Final = Statement(_SELECT.with_for_update(), DirectUpload)
_COMPLETE: Final = Statement(update(direct_uploads).where(_OF_KEY).values(file_id=bindparam("file")))
_EXPIRED: Final = Statement(_SELECT_EXPIRED, DirectUpload)
_EXPIRED_OF_TENANT: Final = Statement(
    _SELECT_EXPIRED.where(direct_uploads.c.tenant_id == bindparam("tenant_id")), DirectUpload
)
_OPEN: Final = Statement(
    select(func.count(), func.min(direct_uploads.c.expires_at)).where(
        direct_uploads.c.user_id == bindparam("user_id"),
        direct_uploads.c.file_id.is_(None),
        direct_uploads.c.expires_at > bindparam("now"),
    )
)
_EXPIRE_ALL: Final = (
    update(direct_uploads).where(direct_uploads.c.user_id == bindparam("of_user")).values(expires_at=0)
)
_EXPIRE: Final = Statement(_EXPIRE_ALL)
_EXPIRE_IN_TENANT: Final = Statement(
    _EXPIRE_ALL.where(direct_uploads.c.tenant_id == bindparam("of_tenant"))
)
_REMOVE: Final = Statement(delete(direct_uploads).where(_OF_KEY))


@dataclass(slots=True, eq=False, repr=False)
class Reservations:
    """Repository of direct uploads, within the caller's transaction.

    Args:
        max_open: maximum number of open uploads per user.
    """

    _clock: Clock
    _quota: Quota
    _max_open: int

    def add(self, connection: Connection, upload: DirectUpload) -> None:
        """Store a new upload and reserve its size.

        Raises:
            StorageFull: the tenant's quota would be exceeded.
            TooManyRequests: the user has too many open uploads.
        """
        # The reservation locks the tenant's row first, so concurrent requests are counted one by one.
        self._quota.reserve(connection, upload.tenant_id, upload.size)
        self._require_few(connection, upload.user_id)
        _ADD.execute(connection, asdict(upload))

    def find(self, connection: Connection, key: str, *, lock: bool = False) -> DirectUpload:
        """Return an upload.

        Args:
            key: key of the upload's blob.
            lock: whether to prevent its removal until the transaction ends.

        Raises:
            NotFound: it has expired or was removed.
        """
        parameters = {"of_key": key, "now": self._clock.now()}
        upload = (_LOCK_OPEN if lock else _FIND).first(connection, parameters)
        if upload is None:
            raise errors.NotFound
        return upload

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Let the uploads of a user expire, in all tenants or in one.

        Pruning removes them, because releasing quota here would lock the rows of many tenants.
        """
        named = {"of_user": ended.user_id, "of_tenant": ended.tenant_id}
        (_EXPIRE if ended.is_of_account else _EXPIRE_IN_TENANT).execute(connection, named)

    def complete(self, connection: Connection, key: str, file_id: str) -> None:
        """Store the file of a completed upload. The caller has already consumed the reservation."""
        _COMPLETE.execute(connection, {"of_key": key, "file": file_id})

    def cancel(self, connection: Connection, key: str) -> None:
        """Delete an upload and release its reservation."""
        if upload := _FIND_LOCKED.first(connection, {"of_key": key}):
            self._remove(connection, upload)

    def end_expired(self, connection: Connection, tenant_id: str | None = None) -> int:
        """Delete one batch of expired uploads, of all tenants or of one, and return their number."""
        parameters = {"now": self._clock.now(), "tenant_id": tenant_id}
        ended = (_EXPIRED if tenant_id is None else _EXPIRED_OF_TENANT).all(connection, parameters)
        # Tenants are locked in the order of their ids, as elsewhere, so that no deadlock is possible.
        for upload in sorted(ended, key=attrgetter("tenant_id")):
            self._remove(connection, upload)
        return len(ended)

    def _require_few(self, connection: Connection, user_id: str) -> None:
        now = self._clock.now()
        ((count, first_end),) = _OPEN.all(connection, {"user_id": user_id, "now": now})
        if count >= self._max_open:
            message = f"You have {count} open direct uploads; complete some or wait."
            raise errors.TooManyRequests(message, retry_after=max(1, (first_end - now) // 1000))

    def _remove(self, connection: Connection, upload: DirectUpload) -> None:
        _REMOVE.execute(connection, {"of_key": upload.key})
        if upload.file_id is None:
            self._quota.reserve(connection, upload.tenant_id, -upload.size)


_PURPOSE: Final = "direct-upload"

# Milliseconds of grace for uploads that started before their URL expired, and for clock skew.
_MARGIN: Final = 3600 * 1000


@dataclass(frozen=True, slots=True)
class DirectUploadToken:
    """Parameters of a direct upload.

    ``size`` is in bytes; ``checksum`` is SHA-256 in hexadecimal; ``folders`` are names below the parent.
    """

    tenant_id: str
    parent_id: str | None
    name: str
    size: int
    checksum: str
    on_conflict: OnConflict
    folders: Sequence[str] = ()

    @property
    def target(self) -> Target:
        """Destination of the file.

        Raises:
            ValidationFailed: the name is invalid.
        """
        name = normalize_name(self.name)
        # A sealed token is JSON, which has neither enumerations nor tuples.
        rule, folders = OnConflict(self.on_conflict), tuple(self.folders)
        return Target(self.tenant_id, self.parent_id, name, rule, folders)


@dataclass(frozen=True, slots=True)
class PresignedUpload:
    """The request that the client sends to the store, and the id to complete the upload with."""

    upload_id: str
    request: SignedRequest
    expires_at: int


@dataclass(slots=True, eq=False, repr=False)
class DirectUploads:
    """Starts and completes direct uploads.

    Args:
        lifetimes: seconds for which requests are signed, by the names of the storages that support it.
    """

    _database: Database
    _clock: Clock
    _keys: SecretKeys
    _files: FileService
    _file_writer: FileWriter
    _blobs: BlobService
    _reservations: Reservations
    _: KW_ONLY
    lifetimes: Mapping[str, int]

    def begin(self, caller: AnyCaller, token: DirectUploadToken) -> PresignedUpload:
        """Reserve quota for an upload, and sign the request that stores its content.

        Raises:
            NotImplementedHere: the storage of new files does not support direct uploads.
            ValidationFailed: the name is invalid.
            Forbidden: the caller is not a member of the tenant, or may not write to the folder.
            NotFound: the folder does not exist.
            NotAFolder: the parent is a file.
            NameConflict: the name is taken.
            PayloadTooLarge: the file is larger than allowed, or than one request can store.
            StorageFull: the tenant's quota would be exceeded.
            TooManyRequests: the caller has too many open uploads.
        """
        lifetime = self.lifetimes.get(self._blobs.target)
        store = self._blobs.storages[self._blobs.target]
        signing = store.capability(SignedUploads)
        if lifetime is None or signing is None:
            raise errors.NotImplementedHere
        if token.size > signing.max_size:
            raise errors.PayloadTooLarge
        store.require_ownership()
        expires_at = self._clock.now() + lifetime * 1000
        with self._database.write() as connection:
            key = self._reserve(connection, caller, token, expires_at + _MARGIN)
        request = signing.upload_request(key, lifetime=lifetime, size=token.size)
        claims = {"key": key, "user": caller.user_id, "agreed": asdict(token)}
        return PresignedUpload(self._keys.seal(_PURPOSE, json.dumps(claims)), request, expires_at)

    def complete(self, caller: AnyCaller, tenant_id: str, upload_id: str) -> NodeView:
        """Create the file from the uploaded content. It is durable when this returns.

        Idempotent until the upload expires: repeated calls return the same file.

        Raises:
            NotFound: the caller started no such upload in this tenant, it has expired, or its file was
                deleted.
            UploadIncomplete: the store has not received the content yet; retry later.
            Forbidden: the caller may no longer write to the folder.
            NameConflict: the name is taken.
            UnsupportedMediaType: files of its type are not accepted.
            DigestMismatch: the content does not match the declared digest.
            ContentInfected, ContentUnscannable, ApiError: a content scanner refuses the content.
            StorageFull: the tenant's quota would be exceeded.
        """
        key, token = self._open(caller, tenant_id, upload_id)
        # Read before looking for the file: a concurrent completion ends "pending" and creates the file
        # in one transaction, so the reverse order could miss both.
        is_pending = self._blobs.is_pending(key)
        if view := self._completed(caller, key):
            return view
        if not is_pending:
            raise errors.NotFound
        try:
            return self._complete(caller, key, token)
        except ObjectNotFound as error:
            raise errors.UploadIncomplete from error
        except (StorageError, errors.Unavailable):
            # A concurrent request may have completed the upload.
            if view := self._completed(caller, key):
                return view
            # Or the upload was rejected and abandoned.
            if not self._blobs.is_pending(key):
                raise errors.NotFound from None
            raise

    def collect(self) -> int:
        """Delete expired uploads, release their reservations, and return their number.

        Safe while servers are running. The blob garbage collection removes their content.
        """
        count = 0
        while True:
            with self._database.write() as connection:
                ended = self._reservations.end_expired(connection)
            if not ended:
                return count
            count += ended

    def _reserve(
        self,
        connection: Connection,
        caller: AnyCaller,
        token: DirectUploadToken,
        until: int,
    ) -> str:
        tenant_id, size = token.tenant_id, token.size
        # Expired reservations of the tenant must not block its quota.
        self._reservations.end_expired(connection, tenant_id)
        self._file_writer.rules.check(connection, caller, token.target, size)
        key = self._blobs.insert_pending(connection, self._blobs.target, until)
        upload = DirectUpload(key, tenant_id, caller.user_id, size, None, until)
        self._reservations.add(connection, upload)
        return key

    def _completed(self, caller: AnyCaller, key: str) -> NodeView | None:
        with self._database.read() as connection:
            upload = self._reservations.find(connection, key)
        if upload.file_id is None:
            return None
        return self._files.get(caller, upload.tenant_id, upload.file_id)

    def _complete(self, caller: AnyCaller, key: str, token: DirectUploadToken) -> NodeView:
        target = token.target
        try:
            with self._blobs.open_uploaded(key) as source:
                received = self._blobs.receive(
                    source,
                    size=token.size,
                    max_bytes=self._file_writer.rules.max_file_bytes,
                    inspect=lambda head: self._file_writer.rules.detect_type(head, target.name),
                )
            if not hmac.compare_digest(received.blob.checksum, token.checksum):
                raise errors.DigestMismatch
            received = self._file_writer.inspect(caller, received, target.name)
            return self._database.write_together(
                lambda connection: self._store(connection, caller, target, received),
                key=target.tenant_id,
            )
        except errors.Unavailable:
            # Temporary: the client may retry, so the upload stays open.
            raise
        except (errors.StrongroomError, ApiError):
            # Permanent: a retry would fail in the same way, so the reservation is released.
            self._give_up(key)
            raise

    def _store(
        self, connection: Connection, caller: AnyCaller, target: Target, received: ReceivedBlob
    ) -> NodeView:
        key = received.blob.key
        upload = self._reservations.find(connection, key, lock=True)
        view = self._file_writer.commit(connection, caller, target, received, reserved=upload.size)
        self._reservations.complete(connection, key, view.node.id)
        return view

    def _give_up(self, key: str) -> None:
        with self._database.write() as connection:
            self._reservations.cancel(connection, key)
        self._blobs.discard(key)

    def _open(self, caller: AnyCaller, tenant_id: str, upload_id: str) -> tuple[str, DirectUploadToken]:
        try:
            claims = json.loads(self._keys.unseal(_PURPOSE, upload_id))
        except ValueError as error:
            raise errors.NotFound from error
        token = DirectUploadToken(**claims["agreed"])
        # The same error as for a malformed id, so that a foreign id reveals nothing.
        if (claims["user"], token.tenant_id) != (caller.user_id, tenant_id):
            raise errors.NotFound
        return claims["key"], token
