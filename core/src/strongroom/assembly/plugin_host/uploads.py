"""Implements ``host.uploads`` by the service of resumable uploads."""

from collections.abc import Callable, Sequence
from typing import Any

from strongroom.assembly.plugin_host.caller import AsCaller
from strongroom.content.nodes import operations
from strongroom.content.nodes.destinations import OnConflict, Target
from strongroom.content.nodes.names import normalize_name
from strongroom.extensions.uploads import protocol
from strongroom.extensions.uploads.repository import Upload
from strongroom.extensions.uploads.service import UploadService
from strongroom.extensions.uploads.views import (
    add_version,
    description,
    progress_headers,
    state_headers,
)
from strongroom.plugin_api.files import OnConflict as Rule
from strongroom.plugin_api.uploads import UploadInfo, UploadsAPI
from strongroom.web.http.response import Response, no_content


class HostUploads(AsCaller, UploadsAPI):
    """Implements :class:`~strongroom.plugin_api.uploads.UploadsAPI`."""

    @property
    def _uploads(self) -> UploadService:
        return self._get(UploadService)

    def finish(self, response: Any) -> Any:
        return add_version(response)

    def describe(self) -> Any:
        return description()

    def announced(self) -> tuple[str, int]:
        protocol.require_version()
        return protocol.read_metadata().target("").name, protocol.read_number("Upload-Length")

    def create(
        self,
        tenant_id: str,
        parent_id: str | None,
        *,
        name: str | None = None,
        on_conflict: Rule = "fail",
        location: Callable[[str], str],
        creates_folders: bool = False,
        folders: Sequence[str] = (),
    ) -> tuple[Any, UploadInfo]:
        protocol.require_version()
        protocol.refuse_other_extensions()
        size, metadata = protocol.read_number("Upload-Length"), protocol.read_metadata()
        named = metadata.target(tenant_id)
        path = (*map(normalize_name, folders), *(named.folders if creates_folders else ()))
        target = Target(tenant_id, parent_id, name or named.name, OnConflict(on_conflict), path)
        piece = protocol.read_piece() if protocol.has_piece() else None
        caller = self._caller(operations.CREATE, tenant_id, parent_id)
        upload = self._uploads.create(caller, target, size, metadata.text, piece)
        headers = {"Location": location(upload.id), **progress_headers(upload)}
        return Response(b"", 201, headers), _info(upload)

    def state(self, tenant_id: str, upload_id: str) -> tuple[Any, UploadInfo]:
        protocol.require_version()
        caller = self._caller(operations.CONTINUE_UPLOAD, tenant_id, upload_id)
        upload = self._uploads.get(caller, tenant_id, upload_id)
        headers = {**progress_headers(upload), **state_headers(upload)}
        return Response(b"", 200, headers), _info(upload)

    def info(self, tenant_id: str, upload_id: str) -> UploadInfo:
        caller = self._caller(operations.CONTINUE_UPLOAD, tenant_id, upload_id)
        return _info(self._uploads.get(caller, tenant_id, upload_id))

    def append(self, tenant_id: str, upload_id: str) -> tuple[Any, UploadInfo]:
        protocol.require_version()
        offset, piece = protocol.read_number("Upload-Offset"), protocol.read_piece()
        caller = self._caller(operations.CONTINUE_UPLOAD, tenant_id, upload_id)
        upload = self._uploads.append(caller, tenant_id, upload_id, offset, piece)
        return no_content(progress_headers(upload)), _info(upload)

    def terminate(self, tenant_id: str, upload_id: str) -> Any:
        protocol.require_version()
        caller = self._caller(operations.CONTINUE_UPLOAD, tenant_id, upload_id)
        self._uploads.terminate(caller, tenant_id, upload_id)
        return no_content()


def _info(upload: Upload) -> UploadInfo:
    return UploadInfo(upload.id, upload.name, upload.size, upload.received, upload.file_id)
