"""The files of a share as its pages show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from strongroom.plugin_api.file_pages import get_icon, size_text
from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.times import iso_format
from strongroom_share_links.models import READERS, Kind
from strongroom_share_links.paths import path_of
from strongroom_share_links.sending import PICTURES, has_preview
from strongroom_share_links.share_opener import OpenedShare

Json = dict[str, Any]

PER_PAGE: Final = 1000
"""How many files a page shows."""

_AT_ONCE: Final = 200


@dataclass(slots=True, eq=False, repr=False)
class Listing:
    """Describes files, folders and the path to them, with their URLs."""

    _host: HostAPI

    def files(self, tenant_id: str, folder_id: str, page: int) -> tuple[list[FileInfo], int]:
        """Return a page of a folder, which has its folders first, and the number of its files."""
        first = (page - 1) * PER_PAGE // _AT_ONCE + 1
        files: list[FileInfo] = []
        total = 0
        for number in range(first, first + PER_PAGE // _AT_ONCE):
            part = self._host.files.list(
                tenant_id, folder_id, folders_first=True, page=number, size=_AT_ONCE
            )
            files, total = files + list(part.items), part.total
            if part.next is None:
                break
        return files, total

    def row(self, opened: OpenedShare, names: Sequence[str], file: FileInfo, page: int = 1) -> Json:
        """Return the members of a file in the folder with a path.

        Args:
            page: the number of the page of the folder that shows the file.
        """
        essence = (file.content_type or "").partition(";")[0]
        return {
            "name": file.name,
            "url": self._url(opened, names, file),
            "view": self.view(opened, names, file, page) if is_viewed(opened, file) else None,
            "is_folder": file.is_folder,
            "icon": "folder" if file.is_folder else get_icon(essence),
            "essence": essence,
            "size": "" if file.is_folder else size_text(file.size),
            "changed_at": iso_format(file.updated_at),
            "picture": self._picture(opened, file.id) if _is_shown(opened, essence) else None,
        }

    def crumbs(self, opened: OpenedShare, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return the paths and names of the folders above the one with a path."""
        if not names:
            return []
        above = [
            (f"{self.path(opened, names[: index + 1])}/", name) for index, name in enumerate(names[:-1])
        ]
        return [(self.root(opened), opened.link.label or opened.file.name), *above]

    def root(self, opened: OpenedShare) -> str:
        """Return the path of the page of a share, which links are relative to."""
        return path_of(self._host, f"/s/{opened.secret}/")

    def path(self, opened: OpenedShare, names: Sequence[str]) -> str:
        """Return the path of a file in a share."""
        return self.root(opened) + "/".join(quote(name, safe="") for name in names)

    def folder(self, opened: OpenedShare, names: Sequence[str], page: int) -> str:
        """Return the path and the query of a page of a folder."""
        path = f"{self.path(opened, names)}/" if names else self.root(opened)
        return f"{path}?page={page}" if page > 1 else path

    def view(self, opened: OpenedShare, names: Sequence[str], file: FileInfo, page: int) -> str:
        """Return the path and the query of the page that shows a file of a folder."""
        path = self.folder(opened, names, page)
        return f"{path}{'&' if page > 1 else '?'}view={quote(file.name, safe='')}"

    def _url(self, opened: OpenedShare, names: Sequence[str], file: FileInfo) -> str | None:
        path = self.path(opened, [*names, file.name])
        if file.is_folder:
            return f"{path}/"
        return path if opened.kind in READERS or has_preview(file) else None

    def _picture(self, opened: OpenedShare, file_id: str) -> str:
        return path_of(self._host, f"/api/v1/shares/{opened.secret}/files/{file_id}/preview")


def is_viewed(opened: OpenedShare, file: FileInfo) -> bool:
    """Return whether a page shows the content of a file: a preview may count as a download."""
    return has_preview(file) and opened.link.max_downloads is None


def _is_shown(opened: OpenedShare, essence: str) -> bool:
    """Return whether the page of a file shows it as a picture."""
    is_free = opened.kind is Kind.PREVIEW or opened.link.max_downloads is None
    return essence in PICTURES and is_free
