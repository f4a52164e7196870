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
from strongroom_share_links.visits import Visit

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

    def row(self, visit: Visit, names: Sequence[str], file: FileInfo) -> Json:
        """Return the members of a file in the folder with a path."""
        essence = (file.content_type or "").partition(";")[0]
        return {
            "name": file.name,
            "url": self._url(visit, names, file),
            "is_folder": file.is_folder,
            "icon": "folder" if file.is_folder else get_icon(essence),
            "essence": essence,
            "size": "" if file.is_folder else size_text(file.size),
            "changed_at": iso_format(file.updated_at),
            "picture": self._picture(visit, file.id) if _is_shown(visit, essence) else None,
        }

    def crumbs(self, visit: Visit, names: Sequence[str]) -> list[tuple[str, str]]:
        """Return the paths and names of the folders above the one with a path."""
        if not names:
            return []
        above = [
            (f"{self.path(visit, names[: index + 1])}/", name) for index, name in enumerate(names[:-1])
        ]
        return [(self.root(visit), visit.link.label or visit.file.name), *above]

    def root(self, visit: Visit) -> str:
        """Return the path of the page of a share, which links are relative to."""
        return path_of(self._host, f"/s/{visit.secret}/")

    def path(self, visit: Visit, names: Sequence[str]) -> str:
        """Return the path of a file in a share."""
        return self.root(visit) + "/".join(quote(name, safe="") for name in names)

    def _url(self, visit: Visit, names: Sequence[str], file: FileInfo) -> str | None:
        path = self.path(visit, [*names, file.name])
        if file.is_folder:
            return f"{path}/"
        return path if visit.kind in READERS or has_preview(file) else None

    def _picture(self, visit: Visit, file_id: str) -> str:
        return path_of(self._host, f"/api/v1/shares/{visit.secret}/files/{file_id}/preview")


def _is_shown(visit: Visit, essence: str) -> bool:
    """Return whether the page of a file shows it: a preview may count as a download."""
    is_free = visit.kind is Kind.PREVIEW or visit.link.max_downloads is None
    return essence in PICTURES and is_free
