"""Responses with the content of a share: files, archives and previews."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import Response, request

from strongroom.plugin_api.files import BeforeSending, FileInfo, Sending
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_share_links.downloads import Counted, portion
from strongroom_share_links.errors import NOT_SHOWN
from strongroom_share_links.models import Kind
from strongroom_share_links.paths import path_of
from strongroom_share_links.service import Shares
from strongroom_share_links.share_opener import OpenedShare

PICTURES: Final = ("image/png", "image/jpeg", "image/gif", "image/webp", "image/avif")
"""The media types that have a preview as a picture."""

WIDTHS: Final = {"large": 1600, "small": 480}
"""The widths of previews of pictures in pixels, by their names."""

_TEXT_BYTES: Final = 64 * 1024
_ARCHIVE: Final = "archive"
_PREVIEW: Final = "preview"


def has_preview(file: FileInfo) -> bool:
    """Return whether a file has a preview."""
    essence = (file.content_type or "").partition(";")[0]
    return essence in PICTURES or essence.startswith("text/")


@dataclass(slots=True, eq=False, repr=False)
class Sender:
    """Sends what visitors download, and counts it before the first byte."""

    _host: HostAPI

    @property
    def _shares(self) -> Shares:
        return self._host.get_service(Shares)

    def open(self, secret: str, kinds: Collection[Kind]) -> OpenedShare:
        """Return the visit of a download; an exhausted share is open for one that was counted."""
        continues = self._shares.downloads.continues(secret)
        return self._shares.opener.open(secret, kinds, continues=continues)

    def file(self, opened: OpenedShare, file_id: str) -> Any:
        """Return the response with a file, or a range of it."""
        with self._shares.opener.acting(opened):
            file = self._host.files.stat(opened.link.tenant_id, file_id)
            return self._counted(
                opened,
                file,
                lambda before: self._host.files.send(opened.link.tenant_id, file_id, before=before),
            )

    def bundle(self, opened: OpenedShare, file_ids: Sequence[str], name: str | None) -> Any:
        """Return the response with an archive of files and folders."""
        with self._shares.opener.acting(opened):
            return self._counted(
                opened,
                None,
                lambda before: self._host.files.send_bundle(
                    opened.link.tenant_id,
                    file_ids,
                    name=name,
                    location=self._location(opened),
                    before=before,
                ),
            )

    def bundle_again(self, opened: OpenedShare, bundle_id: str) -> Any:
        """Return the response with an archive that was requested before."""
        with self._shares.opener.acting(opened):
            return self._counted(
                opened,
                None,
                lambda before: self._host.files.send_bundle_again(
                    opened.link.tenant_id, bundle_id, location=self._location(opened), before=before
                ),
            )

    def text(self, opened: OpenedShare, file: FileInfo) -> str:
        """Return the beginning of a text, for a page."""
        with (
            self._shares.opener.acting(opened),
            self._host.files.open(opened.link.tenant_id, file.id, 0, _TEXT_BYTES) as chunks,
        ):
            return b"".join(chunks).decode("utf-8-sig", errors="replace")

    def preview(self, opened: OpenedShare, file_id: str, scale: str = "large") -> Any:
        """Return the response with a smaller picture, or the beginning of a text.

        It counts as a download if their number is limited.

        Args:
            scale: the size of a picture: one of :data:`WIDTHS`.

        Raises:
            ApiError: the file is neither.
        """
        with self._shares.opener.acting(opened):
            file = self._host.files.stat(opened.link.tenant_id, file_id)
            if file.is_folder or not has_preview(file):
                raise ApiError(NOT_SHOWN)
            response = self._preview(opened, file, WIDTHS[scale])
        if opened.link.max_downloads is None or request.method == "HEAD":
            return response
        # Of a small text, the preview is the whole content.
        size = response.content_length or 0
        sending = Sending(offset=0, length=size, size=size, tag=_PREVIEW, end=size)
        self._shares.downloads.count_once(opened.link, file, file.id, sending, at_once=size)
        return response

    def _preview(self, opened: OpenedShare, file: FileInfo, width: int) -> Any:
        tenant_id = opened.link.tenant_id
        if not (file.content_type or "").startswith("text/"):
            return self._host.files.send_picture(tenant_id, file.id, width)
        with self._host.files.open(tenant_id, file.id, 0, _TEXT_BYTES) as chunks:
            text = b"".join(chunks)
        # As plain text, whatever it is, so that no browser runs it.
        response = Response(text, content_type="text/plain; charset=utf-8")
        response.headers["Content-Security-Policy"] = "default-src 'none'; sandbox"
        return response

    def _location(self, opened: OpenedShare) -> Callable[[str], str]:
        path = path_of(self._host, f"/api/v1/shares/{opened.secret}/multi-files-download")
        return lambda bundle_id: f"{path}/{bundle_id}"

    def _counted(
        self, opened: OpenedShare, file: FileInfo | None, send: Callable[[BeforeSending], Any]
    ) -> Any:
        downloads, began = self._shares.downloads, list[tuple[Sending, Counted]]()
        item = _ARCHIVE if file is None else file.id

        def before(sending: Sending) -> None:
            at_once = portion(sending)
            counted = downloads.count_once(opened.link, file, item, sending, at_once=at_once)
            began.append((sending, counted))

        response = send(before)
        for sending, counted in began:
            downloads.remember(response, opened.link, counted)
            # With ``before``, this server sends the body: no front end and no store does.
            downloads.metered(response, counted, sending)
        return response
