"""A walk through all files below a folder, in parts: each call continues where the last one stopped."""

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from strongroom.plugin_api.files import FileInfo
from strongroom.plugin_api.host import HostAPI
from strongroom_mcp.tools.arguments import MAX_ID
from strongroom_mcp.tools.failures import ToolFailed

MAX_CURSOR: Final = 4096
MAX_DEPTH: Final = 50
"""Deeper folders are not entered."""

_PAGE: Final = 100
_MAX_NUMBER: Final = 1_000_000


@dataclass(slots=True)
class Place:
    """A folder of the walk, and how many of its records are done."""

    folder_id: str | None
    done: int = 0


@dataclass(slots=True)
class Walk:
    """A walk, depth first. ``places`` are the folders from the first one down to the current one."""

    host: HostAPI
    tenant_id: str
    places: list[Place] = field(default_factory=list)

    @classmethod
    def begin(cls, host: HostAPI, tenant_id: str, folder_id: str | None, cursor: str | None) -> "Walk":
        """Return a walk from a folder on, or from a cursor on.

        Raises:
            ToolFailed: the cursor is invalid.
        """
        return cls(host, tenant_id, read_cursor(cursor) if cursor else [Place(folder_id)])

    def cursor(self) -> str | None:
        """Return where the walk has stopped; ``None`` at its end."""
        if not self.places:
            return None
        steps = [[place.folder_id, place.done] for place in self.places]
        return base64.urlsafe_b64encode(json.dumps(steps, separators=(",", ":")).encode()).decode()

    def pages(self) -> Iterator[list[FileInfo]]:
        """Yield the rest of the current folder, one page at a time.

        The caller counts the records by :meth:`take`; the next page follows from there.
        """
        while self.places:
            place = self.places[-1]
            page = self.host.files.list(
                self.tenant_id, place.folder_id, page=place.done // _PAGE + 1, size=_PAGE
            )
            records = [*page.items][place.done % _PAGE :]
            if records:
                yield records
            else:
                self.places.pop()

    def take(self, record: FileInfo) -> bool:
        """Count a record of the current folder, and enter it if it is a folder; return whether it is."""
        self.places[-1].done += 1
        if record.is_folder and len(self.places) < MAX_DEPTH:
            self.places.append(Place(record.id))
        return record.is_folder


def read_cursor(text: str) -> list[Place]:
    """Return the places of a cursor. Permissions are checked when they are listed.

    Raises:
        ToolFailed: it is no cursor of :meth:`Walk.cursor`.
    """
    try:
        return _read_places(json.loads(base64.urlsafe_b64decode(text.encode("ascii")).decode()))
    except (ValueError, TypeError, RecursionError) as error:
        raise ToolFailed("The cursor is invalid. Begin without one.", "invalid-arguments") from error


def _read_places(steps: Any) -> list[Place]:
    if not 0 < len(steps) <= MAX_DEPTH:
        raise ValueError("a cursor has a bounded number of steps")
    return [_read_place(step) for step in steps]


def _read_place(step: Any) -> Place:
    folder_id, done = step
    is_id = folder_id is None or (isinstance(folder_id, str) and 0 < len(folder_id) <= MAX_ID)
    if not is_id or not isinstance(done, int) or not 0 <= done <= _MAX_NUMBER:
        raise ValueError("a step is a folder and a number")
    return Place(folder_id, done)
