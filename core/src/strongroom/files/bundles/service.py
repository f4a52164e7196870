"""Gives out files and folders as one archive, and again from any byte where that broke off."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

from sqlalchemy import delete, insert, select

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.errors import NotFound
from strongroom.files.bundles.archive import Archive
from strongroom.files.bundles.contents import Contents, Selected
from strongroom.files.bundles.manifest import Manifest
from strongroom.files.bundles.models import BundleRequest, bundles
from strongroom.files.names import MAX_LENGTH, normalize_name
from strongroom.identity import Identity
from strongroom.ids import new_id
from strongroom.plugin_api.storage import ByteStream
from strongroom.storage.service import BlobService

_ENDING: Final = ".zip"


@dataclass(frozen=True, slots=True)
class Bundle:
    """An archive that is ready to be read, and closed after.

    Args:
        id: by which it can be asked for again.
        name: what it is saved as.
        manifest: what it holds.
        archive: its bytes.
        selected: the files and folders that it was asked for by.
    """

    id: str
    name: str
    manifest: Manifest
    archive: Archive
    selected: Sequence[Selected]

    def open(self, start: int, length: int) -> ByteStream:
        """Open it from a byte, for a number of bytes; one reader at a time."""
        return self.archive.open(start, length)


class BundleService:
    """Bundles of files.

    Args:
        database: where nodes and wishes are kept.
        clock: the time.
        contents: finds what a bundle holds.
        blobs: keeps bytes.
        lifetime: milliseconds for which a bundle can be asked for again.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        contents: Contents,
        blobs: BlobService,
        *,
        lifetime: int,
    ) -> None:
        self._database = database
        self._clock = clock
        self._contents = contents
        self._blobs = blobs
        self._lifetime = lifetime

    def make(
        self, identity: Identity, tenant_id: str, file_ids: Sequence[str], name: str | None
    ) -> Bundle:
        """Return a bundle of files and whole folders, in this order.

        Raises:
            ValidationFailed: the name cannot be.
            Forbidden: the caller is no member of the tenant, or may not read one of them.
            NotFound: the tenant holds no such node.
            PayloadTooLarge: they lie too deep for an archive.
        """
        manifest, selected = self._write_down(identity, tenant_id, file_ids)
        try:
            wanted = (
                normalize_name(name) if name else selected[0].name if len(selected) == 1 else "files"
            )
            now = self._clock.now()
            request = BundleRequest(
                new_id(),
                tenant_id,
                identity.user_id,
                _with_ending(wanted),
                list(file_ids),
                now + self._lifetime,
            )
            with self._database.write() as connection:
                connection.execute(delete(bundles).where(bundles.c.expires_at <= now))
                connection.execute(insert(bundles).values(asdict(request)))
            return self._bundle(request, manifest, selected)
        except BaseException:
            manifest.close()
            raise

    def get(self, identity: Identity, tenant_id: str, bundle_id: str) -> Bundle:
        """Return a bundle that the caller has asked for before.

        It is the same to the byte, and has the same tag, as long as nothing that it holds has changed.

        Raises:
            Forbidden: the caller is no member of the tenant, or may no longer read one of the files.
            NotFound: there is no such bundle, or one of the files is gone.
        """
        query = select(bundles).where(
            bundles.c.id == bundle_id,
            bundles.c.tenant_id == tenant_id,
            bundles.c.user_id == identity.user_id,
            bundles.c.expires_at > self._clock.now(),
        )
        with self._database.read() as connection:
            self._contents.require_member(connection, tenant_id, identity)
            row = connection.execute(query).first()
        if row is None:
            raise NotFound
        request = BundleRequest(*row)
        manifest, selected = self._write_down(identity, tenant_id, request.file_ids)
        return self._bundle(request, manifest, selected)

    def _write_down(
        self, identity: Identity, tenant_id: str, file_ids: Sequence[str]
    ) -> tuple[Manifest, list[Selected]]:
        manifest = Manifest()
        try:
            with self._database.read() as connection:
                selected = self._contents.write(connection, identity, tenant_id, file_ids, manifest)
        except BaseException:
            manifest.close()
            raise
        return manifest, selected

    def _bundle(
        self, request: BundleRequest, manifest: Manifest, selected: Sequence[Selected]
    ) -> Bundle:
        archive = Archive(manifest, self._blobs)
        return Bundle(request.id, request.name, manifest, archive, selected)


def _with_ending(name: str) -> str:
    if name.lower().endswith(_ENDING):
        return name
    return name[: MAX_LENGTH - len(_ENDING)] + _ENDING
