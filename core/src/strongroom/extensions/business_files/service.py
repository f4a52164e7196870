"""Stores, returns and deletes business files."""

import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Final, Protocol

from sqlalchemy import Connection, bindparam, delete, insert, select

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.content.scanning.inspection import ContentInspection, inspected
from strongroom.content.scanning.scanners import ScanSubject
from strongroom.content.scanning.states import require_readable
from strongroom.content.storage.models import Blob
from strongroom.content.storage.service import BlobService, ReceivedBlob
from strongroom.extensions.business_files.models import BusinessFile, business_files, picture_variants
from strongroom.extensions.business_files.pictures import PictureProcessor, as_source, received_file
from strongroom.extensions.business_files.variants import Profile, VariantService
from strongroom.foundation.caller import Identity, Origin
from strongroom.foundation.database import Database
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import NotFound, TokenRequired
from strongroom.foundation.media_types import get_extension, sniff
from strongroom.plugin_api.storage import ByteSource, ByteStream

_NAMED: Final = business_files.c.name == bindparam("name")
_SELECT: Final = select(business_files).where(_NAMED)
_ADD: Final = Statement(insert(business_files))
_FIND: Final = Statement(_SELECT, BusinessFile)
_FIND_LOCKED: Final = Statement(_SELECT.with_for_update(), BusinessFile)
_REMOVE: Final = Statement(delete(business_files).where(_NAMED))
_REMOVE_VARIANTS: Final = Statement(
    delete(picture_variants)
    .where(picture_variants.c.name == bindparam("name"))
    .returning(picture_variants.c.blob_key)
)


class IncomingContent(Protocol):
    """A file that is being received. The client's file name is not used."""

    source: ByteSource
    size: int | None

    def check(self, checksum: str) -> None:
        """Raise if the SHA-256 of the content differs from the digest that the client declared."""


@dataclass(frozen=True, slots=True)
class Representation:
    """A business file with the blob to send: the original or a scaled variant."""

    file: BusinessFile
    blob: Blob
    is_public: bool


@dataclass(slots=True, eq=False, repr=False)
class BusinessFileService:
    """Manages files that are addressed only by their name."""

    _database: Database
    _clock: Clock
    _blobs: BlobService
    _processor: PictureProcessor
    _variants: VariantService
    _audit: AuditService
    _inspection: ContentInspection
    profiles: Mapping[str, Profile]

    def upload(self, identity: Identity, profile_name: str, incoming: IncomingContent) -> BusinessFile:
        """Store a file under an unguessable name. It is durable when this returns.

        Raises:
            UnsupportedMediaType: the profile does not accept the media type.
            PayloadTooLarge: the file exceeds the profile's size limit.
            PictureTooLarge: the picture has too many pixels, or needs too much memory or time.
            PictureUnreadable: the picture cannot be decoded.
            DigestMismatch: the content does not match the declared digest.
            ContentInfected, ContentUnscannable, ApiError: a content scanner refuses the content.
            StorageFull: the storage is exhausted.
            Unavailable: too many pictures are being processed.
        """
        profile = self.profiles[profile_name]
        if profile.max_pixels:
            return self._upload_picture(identity, profile, incoming)
        received = self._blobs.receive(incoming.source, size=incoming.size, max_bytes=profile.max_bytes)
        media_type = sniff(received.head)
        try:
            incoming.check(received.blob.checksum)
            profile.require_type(media_type)
            received = self._inspection.inspect(identity, received, _name(media_type), media_type)
            return self._store(identity, profile, received, media_type, None, None)
        except BaseException:
            self._blobs.discard(received.blob.key)
            raise

    def get(self, identity: Identity | None, name: str, width: int | None = None) -> Representation:
        """Return a file, or a picture scaled to a smaller width; pictures are never enlarged.

        Raises:
            NotFound: the file does not exist.
            TokenRequired: the profile is not public, and the caller is not authenticated.
            NotScannedYet: the file is not scanned yet.
            Quarantined: the file is in quarantine.
            ValidationFailed: the profile does not offer this width.
            PictureTooLarge: scaling needs too much memory or time.
            PictureUnreadable: the picture can no longer be decoded.
            StorageFull: the storage is exhausted.
            Unavailable: too many variants are being created.
        """
        with self._database.read() as connection:
            file = self._find(connection, name)
            blob = self._blobs.get(connection, file.blob_key)
        profile = self.profiles[file.profile]
        if identity is None and not profile.is_public:
            raise TokenRequired
        # Variants are generated from the original, so its state is theirs.
        require_readable(file.scan)
        if width is not None:
            profile.require_width(width)
            if file.width is not None and width < file.width:
                blob = self._variants.get(file, width)
        return Representation(file, blob, profile.is_public)

    def open(self, blob: Blob, start: int, length: int) -> ByteStream:
        """Open ``length`` bytes of a representation's blob from the offset ``start``."""
        return self._blobs.open(blob.key, start, length)

    def delete(self, identity: Identity, name: str, origin: Origin) -> None:
        """Delete a file and its variants.

        Raises:
            NotFound: the file does not exist.
            Forbidden: the caller is neither the owner nor a server administrator.
        """
        with self._database.write() as connection:
            # The row lock blocks concurrent inserts of variants, which reference the row.
            file = self._find(connection, name, lock=True)
            identity.require_self_or_admin(file.owner_id)
            keys = [file.blob_key, *_REMOVE_VARIANTS.scalars(connection, {"name": name})]
            _REMOVE.execute(connection, {"name": name})
            released = self._blobs.release(connection, keys)
            # Only deletions of other users' files are audited.
            if identity.user_id != file.owner_id:
                self._record_deletion(connection, identity, file, origin)
        self._blobs.remove(released)

    def _upload_picture(
        self, identity: Identity, profile: Profile, incoming: IncomingContent
    ) -> BusinessFile:
        """Store a picture re-encoded, without its metadata."""
        with received_file(incoming.source, profile.max_bytes) as (file, metered):
            # The digest is checked before anything is decoded.
            incoming.check(metered.checksum)
            media_type = sniff(metered.head)
            profile.require_type(media_type)
            # The original is scanned whatever its size, before anything decodes it. The stored picture
            # has none of its bytes, and is scanned itself only if this scan had no verdict.
            subject = ScanSubject(_name(media_type), metered.size, media_type)
            result = self._inspection.inspect_file(identity, file, subject)
            picture = self._processor.clean(file, media_type, profile.max_pixels, identity.user_id)
        size = len(picture.content)
        received = self._blobs.receive(as_source(picture.content), size=size, max_bytes=size)
        received = inspected(received, result)
        try:
            return self._store(identity, profile, received, media_type, picture.width, picture.height)
        except BaseException:
            self._blobs.discard(received.blob.key)
            raise

    def _store(
        self,
        identity: Identity,
        profile: Profile,
        received: ReceivedBlob,
        media_type: str,
        width: int | None,
        height: int | None,
    ) -> BusinessFile:
        file = BusinessFile(
            name=_name(media_type),
            profile=profile.name,
            blob_key=received.blob.key,
            owner_id=identity.user_id,
            content_type=media_type,
            size=received.blob.size,
            width=width,
            height=height,
            created_at=self._clock.now(),
            scan=self._inspection.get_state(received),
        )
        with self._database.write() as connection:
            self._blobs.commit(connection, received.blob)
            self._inspection.record(connection, received)
            _ADD.execute(connection, asdict(file))
        return file

    def _find(self, connection: Connection, name: str, *, lock: bool = False) -> BusinessFile:
        file = (_FIND_LOCKED if lock else _FIND).first(connection, {"name": name})
        if file is None:
            raise NotFound
        return file

    def _record_deletion(
        self, connection: Connection, identity: Identity, file: BusinessFile, origin: Origin
    ) -> None:
        event = AuditEvent(
            "business-file.delete",
            actor_id=identity.user_id,
            target_type="user",
            target_id=file.owner_id,
            origin=origin,
            details={"profile": file.profile, "file": file.name},
        )
        self._audit.record(connection, event)


def _name(media_type: str) -> str:
    """Return a new unguessable name, with the extension of the media type."""
    return secrets.token_hex(20) + get_extension(media_type)
