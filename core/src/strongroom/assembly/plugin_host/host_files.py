"""Implements :mod:`strongroom.plugin_api.files` by the services that the REST API uses."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, BinaryIO, Final, TypeVar

from strongroom.assembly.plugin_host.acting import PERMISSIONS
from strongroom.assembly.plugin_host.caller import AsCaller, paging_of, result_page
from strongroom.content.bundles.service import BundleService
from strongroom.content.bundles.views import send_bundle
from strongroom.content.business_files.pictures import OriginalPicture
from strongroom.content.business_files.services import BusinessFileServices
from strongroom.content.files.copying import Copy, CopyingService
from strongroom.content.files.grants import GrantRequest, GrantService, GroupGrantRequest
from strongroom.content.files.group_grants import GroupGrantService
from strongroom.content.files.listing import FileListing
from strongroom.content.files.moving import Move, MovingService
from strongroom.content.files.paths import PathLookup
from strongroom.content.files.replacing import ReplacingService
from strongroom.content.files.service import FileService
from strongroom.content.files.trash.service import RestoreRequest, TrashService
from strongroom.content.files.versions.service import VersionService
from strongroom.content.files.views import send_download
from strongroom.content.nodes import operations
from strongroom.content.nodes.access import NodeView
from strongroom.content.nodes.events import DownloadRecorder
from strongroom.content.nodes.file_writer import OnConflict
from strongroom.content.nodes.models import Grant, GroupGrant, Node, Permission
from strongroom.content.nodes.names import chosen_name, normalize_name, parse_path
from strongroom.content.nodes.retention_models import RetentionSettings
from strongroom.content.nodes.trash import TrashedNode
from strongroom.content.nodes.versions import Version
from strongroom.content.storage.models import BlobLocation
from strongroom.content.storage.streams import MeteredSource
from strongroom.foundation.caller import Identity
from strongroom.foundation.errors import (
    DigestMismatch,
    NotAFile,
    NotFound,
    PictureUnreadable,
    StorageFull,
    Unavailable,
    UploadIncomplete,
    ValidationFailed,
)
from strongroom.plugin_api import files as api
from strongroom.plugin_api import storage
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.storage import ByteSource
from strongroom.web.http.downloads import INLINE_TYPES
from strongroom.web.http.response import Response
from strongroom.web.http.uploads import receive_upload

_PICTURES: Final = INLINE_TYPES - {"text/plain"}
_VERSIONS: Final = 1 << 31
"""Numbers of versions are below, because their column holds no others."""

_MAX_PICTURE_BYTES: Final = 32 * 1024 * 1024
_MAX_PICTURE_PIXELS: Final = 50_000_000

A = TypeVar("A")
B = TypeVar("B")


@contextmanager
def _storage_errors() -> Iterator[None]:
    """Convert the errors of storages to those of the core, as for responses."""
    try:
        yield
    except storage.StorageUnavailable as error:
        raise Unavailable(retry_after=error.retry_after) from error
    except storage.StorageFull as error:
        raise StorageFull from error


@dataclass(slots=True)
class _Incoming:
    """A file that a plugin uploads. ``expected`` is its SHA-256, if the plugin knows it."""

    name: str
    source: ByteSource
    size: int | None
    expected: str | None

    def check(self, checksum: str) -> None:
        if self.expected is not None and self.expected.lower() != checksum:
            raise DigestMismatch


class _SizedSource:
    """A source that must yield exactly ``size`` bytes; it is not read further."""

    def __init__(self, source: ByteSource, size: int) -> None:
        self._source = source
        self._missing = size

    def read(self, size: int, /) -> bytes:
        chunk = self._source.read(min(size, self._missing)) if self._missing else b""
        if not chunk and self._missing:
            raise UploadIncomplete
        self._missing -= len(chunk)
        return chunk


class HostFiles(AsCaller, api.FilesAPI):
    """Implements ``host.files``."""

    def list(
        self, tenant_id: str, parent_id: str | None, *, page: int = 1, size: int = 100
    ) -> ResultPage[api.FileInfo]:
        caller, paging = self._caller(operations.LIST, tenant_id, parent_id), paging_of(page, size)
        listing = self._get(FileListing)
        if parent_id is None:
            listed = listing.top_level(caller, tenant_id, caller.user_id, paging)
        else:
            listed = listing.inside(caller, tenant_id, caller.user_id, parent_id, paging)
        files = [_file_of_json(record) for record in listed.records]
        return ResultPage(files, listed.total, page, size)

    def stat(self, tenant_id: str, file_id: str) -> api.FileInfo:
        files = self._get(FileService)
        return _file(files.get(self._caller(operations.GET, tenant_id, file_id), tenant_id, file_id))

    def resolve(self, tenant_id: str, path: Sequence[str]) -> api.FileInfo:
        paths = self._get(PathLookup)
        return _file(paths.resolve(self._caller(operations.GET, tenant_id), tenant_id, path))

    @contextmanager
    def open(
        self, tenant_id: str, file_id: str, start: int = 0, length: int | None = None
    ) -> Iterator[Iterator[bytes]]:
        caller = self._caller(operations.DOWNLOAD, tenant_id, file_id)
        node, location = self._get(FileService).locate(caller, tenant_id, file_id)
        if location is None:
            raise NotAFile
        with self._reading(caller, node, location, start, length) as chunks:
            yield chunks

    @contextmanager
    def _reading(
        self, caller: Identity, node: Node, location: BlobLocation, start: int, length: int | None
    ) -> Iterator[Iterator[bytes]]:
        """Open a range of the content of a node that the caller may read, and record the download."""
        size = max(0, node.size - start)
        length = size if length is None else min(length, size)
        with _storage_errors(), self._get(FileService).open(node, start, length, location) as chunks:
            self._get(DownloadRecorder).record(caller, node)
            yield chunks

    def send(self, tenant_id: str, file_id: str, *, before: api.BeforeSending | None = None) -> Any:
        caller = self._caller(operations.DOWNLOAD, tenant_id, file_id)
        return send_download(caller, tenant_id, file_id, before)

    def send_bundle(
        self,
        tenant_id: str,
        file_ids: Sequence[str],
        *,
        name: str | None = None,
        location: Callable[[str], str],
        before: api.BeforeSending | None = None,
    ) -> Any:
        caller = self._caller(operations.DOWNLOAD_BUNDLE, tenant_id, *file_ids)
        bundle = self._get(BundleService).make(caller, tenant_id, file_ids, name)
        return send_bundle(bundle, caller, location, before)

    def send_bundle_again(
        self,
        tenant_id: str,
        bundle_id: str,
        *,
        location: Callable[[str], str],
        before: api.BeforeSending | None = None,
    ) -> Any:
        caller = self._caller(operations.DOWNLOAD_BUNDLE, tenant_id, bundle_id)
        bundle = self._get(BundleService).get(caller, tenant_id, bundle_id)
        return send_bundle(bundle, caller, location, before)

    def send_picture(self, tenant_id: str, file_id: str, width: int) -> Any:
        caller = self._caller(operations.DOWNLOAD, tenant_id, file_id)
        node, location = self._get(FileService).locate(caller, tenant_id, file_id)
        media_type = (node.content_type or "").partition(";")[0]
        if location is None:
            raise NotAFile
        if media_type not in _PICTURES or node.size > _MAX_PICTURE_BYTES:
            raise PictureUnreadable

        def write(file: BinaryIO) -> None:
            with _storage_errors(), self._get(FileService).open(node, 0, node.size) as chunks:
                file.writelines(chunks)

        original = OriginalPicture(location.object_key, media_type, _MAX_PICTURE_PIXELS, write)
        picture = (
            self._user.services()
            .group(BusinessFileServices)
            .pictures.preview(original, width, caller.user_id)
        )
        # Shown inline, so it must be neither cached for others nor able to run anything.
        headers = {"Cache-Control": "private, no-store", "Content-Disposition": "inline"}
        headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
        return Response(picture, 200, {"Content-Type": media_type, **headers})

    def receive(
        self,
        tenant_id: str,
        parent_id: str | None,
        *,
        name: Callable[[str], str] = str,
        on_conflict: api.OnConflict = "fail",
        max_bytes: int | None = None,
        relative_path: str | None = None,
        folders: Sequence[str] = (),
    ) -> api.FileInfo:
        below, last = parse_path(relative_path) if relative_path else ((), None)
        path = (*map(normalize_name, folders), *below)
        files, caller = self._get(FileService), self._caller(operations.CREATE, tenant_id, parent_id)
        # A plugin may lower the limit of the server, never raise it.
        most = files.max_file_bytes if max_bytes is None else min(max_bytes, files.max_file_bytes)
        incoming = receive_upload(most, default_name=last)
        incoming.name = name(chosen_name(below, last, incoming.name))
        incoming.source = MeteredSource(incoming.source, most)
        with _storage_errors():
            rule = _on_conflict(on_conflict)
            return _file(files.upload(caller, tenant_id, parent_id, incoming, rule, path))

    def upload(
        self,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        source: ByteSource,
        *,
        size: int | None = None,
        on_conflict: api.OnConflict = "fail",
        checksum: str | None = None,
    ) -> api.FileInfo:
        files = self._get(FileService)
        incoming, rule = _incoming(name, source, size, checksum), _on_conflict(on_conflict)
        with _storage_errors():
            return _file(
                files.upload(
                    self._caller(operations.CREATE, tenant_id, parent_id),
                    tenant_id,
                    parent_id,
                    incoming,
                    rule,
                )
            )

    def replace(
        self,
        tenant_id: str,
        file_id: str,
        source: ByteSource,
        *,
        size: int | None = None,
        checksum: str | None = None,
        revision: int | None = None,
    ) -> api.FileInfo:
        replacing = self._get(ReplacingService)
        # The file keeps its name.
        incoming = _incoming("", source, size, checksum)
        caller = self._caller(operations.REPLACE, tenant_id, file_id)
        with _storage_errors():
            return _file(replacing.replace_content(caller, tenant_id, file_id, incoming, revision))

    def create_folder(
        self, tenant_id: str, parent_id: str | None, name: str, *, on_conflict: api.OnConflict = "fail"
    ) -> api.FileInfo:
        files, rule = self._get(FileService), _on_conflict(on_conflict)
        return _file(
            files.create_folder(
                self._caller(operations.CREATE, tenant_id, parent_id), tenant_id, parent_id, name, rule
            )
        )

    def rename(
        self,
        tenant_id: str,
        file_id: str,
        name: str,
        *,
        on_conflict: api.OnConflict = "fail",
        revision: int | None = None,
    ) -> api.FileInfo:
        moving, rule = self._get(MovingService), _on_conflict(on_conflict)
        return _file(
            moving.rename(
                self._caller(operations.RENAME, tenant_id, file_id),
                tenant_id,
                file_id,
                name,
                revision,
                rule,
            )
        )

    def move(
        self,
        tenant_id: str,
        file_id: str,
        parent_id: str | None,
        name: str | None = None,
        *,
        on_conflict: api.OnConflict = "fail",
        revision: int | None = None,
    ) -> api.FileInfo:
        # As the route: the service requires more where the parent changes.
        request = Move(parent_id, name, _on_conflict(on_conflict))
        moving = self._get(MovingService)
        return _file(
            moving.move(
                self._caller(operations.RENAME, tenant_id, file_id, parent_id),
                tenant_id,
                file_id,
                request,
                revision,
            )
        )

    def copy(
        self,
        tenant_id: str,
        file_id: str,
        parent_id: str | None,
        name: str | None = None,
        *,
        on_conflict: api.OnConflict = "fail",
    ) -> api.FileInfo:
        request = Copy(parent_id, name, _on_conflict(on_conflict))
        caller = self._caller(operations.COPY, tenant_id, file_id, parent_id)
        return _file(self._get(CopyingService).copy(caller, tenant_id, file_id, request))

    def delete(self, tenant_id: str, file_id: str, *, revision: int | None = None) -> None:
        files = self._get(FileService)
        files.delete(self._caller(operations.DELETE, tenant_id, file_id), tenant_id, file_id, revision)

    def trashed(
        self, tenant_id: str, *, page: int = 1, size: int = 100
    ) -> ResultPage[api.TrashedFileInfo]:
        trash, paging = self._get(TrashService), paging_of(page, size)
        trashed, _, settings = trash.page(
            self._caller(operations.LIST_TRASH, tenant_id), tenant_id, paging
        )
        return result_page(trashed, partial(_trashed, settings))

    def restore(
        self,
        tenant_id: str,
        file_id: str,
        *,
        parent_id: str | None = None,
        to_top_level: bool = False,
        on_conflict: api.OnConflict = "fail",
    ) -> api.FileInfo:
        is_former = parent_id is None and not to_top_level
        request = RestoreRequest(_on_conflict(on_conflict), is_former, parent_id)
        caller = self._caller(operations.RESTORE, tenant_id, file_id, parent_id)
        return _file(self._get(TrashService).restore(caller, tenant_id, file_id, request))

    def versions(
        self, tenant_id: str, file_id: str, *, page: int = 1, size: int = 100
    ) -> ResultPage[api.VersionInfo]:
        service, paging = self._get(VersionService), paging_of(page, size)
        caller = self._caller(operations.LIST_VERSIONS, tenant_id, file_id)
        versions, _ = service.page(caller, tenant_id, file_id, paging)
        return result_page(versions, _version)

    @contextmanager
    def open_version(
        self, tenant_id: str, file_id: str, number: int, start: int = 0, length: int | None = None
    ) -> Iterator[Iterator[bytes]]:
        caller = self._caller(operations.DOWNLOAD_VERSION, tenant_id, file_id)
        versions = self._get(VersionService)
        node, location = versions.locate(caller, tenant_id, file_id, _version_number(number))
        with self._reading(caller, node, location, start, length) as chunks:
            yield chunks

    def restore_version(
        self, tenant_id: str, file_id: str, number: int, *, revision: int | None = None
    ) -> api.FileInfo:
        caller = self._caller(operations.RESTORE_VERSION, tenant_id, file_id)
        versions = self._get(VersionService)
        number = _version_number(number)
        return _file(versions.restore(caller, tenant_id, file_id, number, revision))

    def grants(
        self, tenant_id: str, file_id: str, *, page: int = 1, size: int = 100
    ) -> ResultPage[api.GrantInfo]:
        service, paging = self._get(GrantService), paging_of(page, size)
        grants, _ = service.page(
            self._caller(operations.LIST_GRANTS, tenant_id, file_id), tenant_id, file_id, paging
        )
        return result_page(grants, _grant)

    def share(
        self,
        tenant_id: str,
        file_id: str,
        user_id: str,
        permission: api.Level,
        *,
        expires_at: int | None = None,
    ) -> api.GrantInfo:
        requested = GrantRequest(user_id, _level(permission), expires_at)
        service = self._get(GrantService)
        caller, origin = self._caller(operations.GRANT, tenant_id, file_id, user_id), self._user.origin()
        grant, _ = service.put(caller, tenant_id, file_id, requested, origin)
        return _grant(grant)

    def tenure(self, tenant_id: str, file_id: str) -> api.Tenure:
        caller = self._caller(operations.GRANT, tenant_id, file_id)
        return self._get(GrantService).tenure(caller, tenant_id, file_id)

    def restored_since(self, tenant_id: str, file_id: str, after: int) -> bool:
        caller = self._caller(operations.GET, tenant_id, file_id)
        return self._get(TrashService).restored_since(caller, tenant_id, file_id, after)

    def unshare(self, tenant_id: str, file_id: str, user_id: str) -> None:
        service = self._get(GrantService)
        service.remove(
            self._caller(operations.REVOKE, tenant_id, file_id, user_id),
            tenant_id,
            file_id,
            user_id,
            self._user.origin(),
        )

    def group_grants(
        self, tenant_id: str, file_id: str, *, page: int = 1, size: int = 100
    ) -> ResultPage[api.GroupGrantInfo]:
        service, paging = self._get(GroupGrantService), paging_of(page, size)
        grants, _ = service.page(
            self._caller(operations.LIST_GRANTS, tenant_id, file_id), tenant_id, file_id, paging
        )
        return result_page(grants, _group_grant)

    def share_with_group(
        self,
        tenant_id: str,
        file_id: str,
        group_id: str,
        permission: api.Level,
        *,
        expires_at: int | None = None,
    ) -> api.GroupGrantInfo:
        requested = GroupGrantRequest(group_id, _level(permission), expires_at)
        caller = self._caller(operations.GRANT, tenant_id, file_id, group_id)
        service, origin = self._get(GroupGrantService), self._user.origin()
        grant, _ = service.put(caller, tenant_id, file_id, requested, origin)
        return _group_grant(grant)

    def unshare_with_group(self, tenant_id: str, file_id: str, group_id: str) -> None:
        caller = self._caller(operations.REVOKE, tenant_id, file_id, group_id)
        service = self._get(GroupGrantService)
        service.remove(caller, tenant_id, file_id, group_id, self._user.origin())


def _incoming(name: str, source: ByteSource, size: int | None, checksum: str | None) -> _Incoming:
    sized = source if size is None else _SizedSource(source, size)
    return _Incoming(name, sized, size, checksum)


def _on_conflict(text: str) -> OnConflict:
    try:
        return OnConflict(text)
    except ValueError as error:
        message = f"Must be one of: {', '.join(OnConflict)}."
        raise ValidationFailed.of_field("on_conflict", "invalid", message) from error


def _level(permission: str) -> Permission:
    if permission not in PERMISSIONS:
        message = f"Must be one of: {', '.join(PERMISSIONS)}."
        raise ValidationFailed.of_field("permission", "invalid", message)
    return PERMISSIONS[permission]


def _file(view: NodeView) -> api.FileInfo:
    node = view.node
    return api.FileInfo(
        id=node.id,
        tenant_id=node.tenant_id,
        parent_id=None if node.parent_id == node.tenant_id else node.parent_id,
        is_folder=node.blob_key is None,
        name=node.name,
        size=node.size,
        content_type=node.content_type,
        checksum=node.checksum,
        owner_id=node.owner_id,
        permission=view.permission.name.lower(),
        revision=node.revision,
        created_at=node.created_at,
        updated_at=node.updated_at,
    )


def _file_of_json(text: str) -> api.FileInfo:
    """Return the file of a record of a list, in the form of REST, in which it is cached."""
    record = json.loads(text)
    return api.FileInfo(
        id=record["id"],
        tenant_id=record["tenantId"],
        parent_id=record["parentId"],
        is_folder=record["type"] == "folder",
        name=record["name"],
        size=record["size"],
        content_type=record["contentType"],
        checksum=record["checksum"] and record["checksum"].removeprefix("sha256:"),
        owner_id=record["owner"]["$ref"],
        permission=record["permission"],
        revision=record["revision"],
        created_at=_milliseconds(record["createdAt"]),
        updated_at=_milliseconds(record["updatedAt"]),
    )


def _milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def _trashed(settings: RetentionSettings, trashed: TrashedNode) -> api.TrashedFileInfo:
    entry, node = trashed
    return api.TrashedFileInfo(
        id=node.id,
        tenant_id=node.tenant_id,
        parent_id=None if entry.parent_id == entry.tenant_id else entry.parent_id,
        is_folder=node.blob_key is None,
        name=node.name,
        size=entry.size,
        owner_id=node.owner_id,
        trashed_by=entry.trashed_by,
        trashed_at=entry.trashed_at,
        purge_at=settings.purge_at(entry.trashed_at),
    )


def _version(version: Version) -> api.VersionInfo:
    return api.VersionInfo(
        file_id=version.node_id,
        number=version.number,
        size=version.size,
        content_type=version.content_type,
        checksum=version.checksum,
        modified_at=version.modified_at,
        archived_at=version.archived_at,
        archived_by=version.archived_by,
        label=version.label,
        is_kept=version.is_kept,
    )


def _version_number(number: int) -> int:
    if not 0 < number < _VERSIONS:
        raise NotFound
    return number


def _grant(grant: Grant) -> api.GrantInfo:
    return api.GrantInfo(
        grant.node_id,
        grant.user_id,
        grant.permission.name.lower(),
        grant.expires_at,
        grant.granted_by,
        grant.created_at,
    )


def _group_grant(grant: GroupGrant) -> api.GroupGrantInfo:
    return api.GroupGrantInfo(
        grant.node_id,
        grant.group_id,
        grant.group_name,
        grant.permission.name.lower(),
        grant.expires_at,
        grant.granted_by,
        grant.created_at,
    )
