"""Bundles files and folders into one archive; interrupted downloads can be resumed at any byte."""

from collections.abc import Sequence
from dataclasses import KW_ONLY, asdict, dataclass
from typing import Final

from sqlalchemy import (
    JSON,
    Column,
    Connection,
    ForeignKey,
    Index,
    Table,
    bindparam,
    delete,
    insert,
    select,
)

from strongroom.clock import Clock
from strongroom.content.nodes.names import MAX_LENGTH, normalize_name
from strongroom.content.storage.service import BlobService
from strongroom.extensions.bundles.archive import Archive
from strongroom.extensions.bundles.contents import Contents, Selected
from strongroom.extensions.bundles.manifest import BundleManifest
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Forbidden, NotFound
from strongroom.foundation.ids import new_id
from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.storage import ByteStream


@dataclass(frozen=True, slots=True)
class BundleRequest:
    """A row of :data:`bundles`."""

    id: str
    tenant_id: str
    user_id: str
    name: str
    file_ids: list[str]
    expires_at: int


bundles: Final = Table(
    "bundles",
    metadata,
    Column("id", Id, primary_key=True),
    Column("tenant_id", Id, ForeignKey("tenants.id", ondelete="CASCADE"), nullable=False),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("name", Name, nullable=False),
    Column("file_ids", JSON, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "expires_at"),
)
"""Only the request is stored; the content is queried on each download."""


_ENDING: Final = ".zip"

_ADD: Final = Statement(insert(bundles))
_FORGET_EXPIRED: Final = Statement(delete(bundles).where(bundles.c.expires_at <= bindparam("now")))
_END: Final = delete(bundles).where(bundles.c.user_id == bindparam("of_user"))
_END_ALL: Final = Statement(_END)
_END_OF_TENANT: Final = Statement(_END.where(bundles.c.tenant_id == bindparam("of_tenant")))
_FIND: Final = Statement(
    select(bundles).where(
        bundles.c.id == bindparam("id"),
        bundles.c.tenant_id == bindparam("tenant_id"),
        bundles.c.user_id == bindparam("user_id"),
        bundles.c.expires_at > bindparam("now"),
    ),
    BundleRequest,
)


@dataclass(frozen=True, slots=True)
class Bundle:
    """An archive that is ready to be read. The caller closes the manifest afterwards.

    Args:
        id: identifies the bundle for a later download.
        name: file name of the archive.
        archive: generates the bytes.
    """

    id: str
    name: str
    manifest: BundleManifest
    archive: Archive
    selected: Sequence[Selected]

    def open(self, start: int, length: int) -> ByteStream:
        """Open ``length`` bytes from the offset ``start``; one reader at a time."""
        return self.archive.open(start, length)


@dataclass(slots=True, eq=False, repr=False)
class BundleService:
    """Creates bundles, and recreates them for resumed downloads.

    Args:
        lifetime: milliseconds for which a bundle can be downloaded again.
    """

    _database: Database
    _clock: Clock
    _contents: Contents
    _blobs: BlobService
    _: KW_ONLY
    lifetime: int

    def make(
        self, caller: AnyCaller, tenant_id: str, file_ids: Sequence[str], name: str | None
    ) -> Bundle:
        """Return a bundle of files and whole folders, in the given order.

        Raises:
            ValidationFailed: the name is invalid.
            Forbidden: the caller is not a member of the tenant, or may not read one of the nodes.
            NotFound: the tenant has no such node.
            NotScannedYet, Quarantined: the content of one of the nodes cannot be read.
            PayloadTooLarge: a path is too long for an archive.
        """
        manifest, selected = self._collect(caller, tenant_id, file_ids)
        try:
            stem = normalize_name(name) if name else selected[0].name if len(selected) == 1 else "files"
            now = self._clock.now()
            request = BundleRequest(
                new_id(),
                tenant_id,
                caller.user_id,
                _with_ending(stem),
                list(file_ids),
                now + self.lifetime,
            )
            with self._database.write() as connection:
                # Each new request deletes the expired ones.
                _FORGET_EXPIRED.execute(connection, {"now": now})
                _ADD.execute(connection, asdict(request))
            return self._bundle(request, manifest, selected)
        except BaseException:
            manifest.close()
            raise

    def get(self, caller: AnyCaller, tenant_id: str, bundle_id: str) -> Bundle:
        """Return a bundle that the caller has requested before.

        It is identical to the byte, with the same entity tag, unless a node in it has changed.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may no longer read one of the nodes.
            NotFound: the bundle does not exist or has expired, or one of the nodes was deleted.
            NotScannedYet, Quarantined: the content of one of the nodes cannot be read.
        """
        parameters = {
            "id": bundle_id,
            "tenant_id": tenant_id,
            "user_id": caller.user_id,
            "now": self._clock.now(),
        }
        with self._database.read() as connection:
            self._contents.require_member(connection, tenant_id, caller)
            request = _FIND.first(connection, parameters)
        if request is None:
            raise NotFound
        # This checks the permissions again, because they may have changed since the request.
        try:
            manifest, selected = self._collect(caller, tenant_id, request.file_ids)
        except (Forbidden, NotFound) as error:
            if caller.key is None:
                raise
            # The error would name a node that the access key may not reach.
            raise NotFound from error
        return self._bundle(request, manifest, selected)

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Delete the bundles that a user has requested, in all tenants or in one."""
        named = {"of_user": ended.user_id, "of_tenant": ended.tenant_id}
        (_END_ALL if ended.is_of_account else _END_OF_TENANT).execute(connection, named)

    def _collect(
        self, caller: AnyCaller, tenant_id: str, file_ids: Sequence[str]
    ) -> tuple[BundleManifest, list[Selected]]:
        manifest = BundleManifest()
        try:
            with self._database.snapshot() as connection:
                selected = self._contents.write(connection, caller, tenant_id, file_ids, manifest)
        except BaseException:
            manifest.close()
            raise
        return manifest, selected

    def _bundle(
        self, request: BundleRequest, manifest: BundleManifest, selected: Sequence[Selected]
    ) -> Bundle:
        archive = Archive(manifest, self._blobs)
        return Bundle(request.id, request.name, manifest, archive, selected)


def _with_ending(name: str) -> str:
    if name.lower().endswith(_ENDING):
        return name
    return name[: MAX_LENGTH - len(_ENDING)] + _ENDING
