"""The calls of ``host.files`` that answer a request with files."""

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO, Final

from strongroom.assembly.plugin_host.caller import AsCaller
from strongroom.assembly.plugin_host.files.content import storage_errors
from strongroom.assembly.plugin_host.files.records import version_number
from strongroom.content.files.service import FileService
from strongroom.content.files.views import send_download, send_node
from strongroom.content.nodes import operations
from strongroom.extensions.bundles.service import BundleService
from strongroom.extensions.bundles.views import send_bundle
from strongroom.extensions.business_files.pictures import OriginalPicture
from strongroom.extensions.business_files.services import BusinessFileServices
from strongroom.extensions.versions.service import VersionService
from strongroom.foundation.errors import (
    NotAFile,
    PictureUnreadable,
)
from strongroom.plugin_api import files as api
from strongroom.web.http.caching import CACHE_CONTROL, PRIVATE_NO_STORE
from strongroom.web.http.downloads import INLINE_TYPES
from strongroom.web.http.response import Response

_PICTURES: Final = INLINE_TYPES - {"text/plain"}
_MAX_PICTURE_BYTES: Final = 32 * 1024 * 1024
_MAX_PICTURE_PIXELS: Final = 50_000_000


class FileResponses(AsCaller, api.FilesAPI):
    """Makes the responses with files."""

    def send(self, tenant_id: str, file_id: str, *, before: api.BeforeSending | None = None) -> Any:
        caller = self._caller(operations.DOWNLOAD, tenant_id, file_id)
        return send_download(caller, tenant_id, file_id, before)

    def send_version(self, tenant_id: str, file_id: str, number: int) -> Any:
        caller = self._caller(operations.DOWNLOAD_VERSION, tenant_id, file_id)
        node, location = self._get(VersionService).locate(
            caller, tenant_id, file_id, version_number(number)
        )
        return send_node(caller, node, location)

    def make_bundle(self, tenant_id: str, file_ids: Sequence[str], *, name: str | None = None) -> str:
        caller = self._caller(operations.DOWNLOAD_BUNDLE, tenant_id, *file_ids)
        bundle = self._get(BundleService).make(caller, tenant_id, file_ids, name)
        bundle.manifest.close()
        return bundle.id

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
            with storage_errors(), self._get(FileService).open(node, 0, node.size) as chunks:
                file.writelines(chunks)

        original = OriginalPicture(location.object_key, media_type, _MAX_PICTURE_PIXELS, write)
        picture = (
            self._user.services()
            .group(BusinessFileServices)
            .pictures.preview(original, width, caller.user_id)
        )
        # Shown inline, so it must be neither cached for others nor able to run anything.
        headers = {CACHE_CONTROL: PRIVATE_NO_STORE, "Content-Disposition": "inline"}
        headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
        return Response(picture, 200, {"Content-Type": media_type, **headers})
