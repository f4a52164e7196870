"""Which rows a list of files shows, and how: the choices in its query."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from flask import request

from strongroom.plugin_api.page_lists import changed_query
from strongroom.plugin_api.times import start_of_day
from strongroom.plugin_api.visits import current_visit
from strongroom_console.filters import Chip, make_chips, today
from strongroom_console.tenant.frame import tenant_path

SORTS: Final = {
    "name": "sort-name",
    "-name": "sort-name-down",
    "-updatedAt": "sort-newest",
    "updatedAt": "sort-oldest",
    "-size": "sort-largest",
    "size": "sort-smallest",
    "type": "sort-type",
    "-type": "sort-type-down",
}
"""The keys of the names of the orders, by the values of the REST API."""

KINDS: Final = {
    "folders": "kind-folders",
    "files": "kind-files",
    "pictures": "kind-pictures",
    "videos": "kind-videos",
    "audio": "kind-audio",
    "texts": "kind-texts",
    "pdf": "kind-pdf",
}
"""The keys of the names of the kinds, by their values in the query."""

_KIND_QUERIES: Final[Mapping[str, Mapping[str, str]]] = {
    "folders": {"type": "folder"},
    "files": {"type": "file"},
    "pictures": {"contentType": "image/*"},
    "videos": {"contentType": "video/*"},
    "audio": {"contentType": "audio/*"},
    "texts": {"contentType": "text/*"},
    "pdf": {"contentType": "application/pdf"},
}

SCOPES: Final = ("folder", "below", "space")
"""Where a text is searched for: in the folder itself, at any depth below it, or in the whole space."""

PERIODS: Final = {
    "today": "filter-today",
    "week": "filter-week",
    "month": "filter-month",
    "year": "filter-year",
}
"""The keys of the names of the periods of changes up to now, by their values in the query."""

_DAYS: Final = {"today": 1, "week": 7, "month": 30}

VIEWS: Final = {"list": "view-list", "grid": "view-grid"}
"""The keys of the names of the views; the first one is shown unless another is chosen."""
_VIEW_COOKIE: Final = "strongroom-console-view"
_LONGEST_TEXT: Final = 255
_ID: Final = re.compile(r"[0-9a-f-]{36}")


@dataclass(frozen=True, slots=True)
class Filters:
    """The choices of a request.

    Args:
        text: what the names contain.
        scope: one of :data:`SCOPES`.
        kind: one of :data:`KINDS`; empty: all.
        sort: one of :data:`SORTS`.
        owner: ``me``, the id of an owner, or empty for all.
        since: one of :data:`PERIODS`, or empty for any time.
    """

    text: str
    scope: str
    kind: str
    sort: str
    owner: str = ""
    since: str = ""

    @property
    def is_search(self) -> bool:
        """Whether the rows may be from several folders."""
        return bool(self.text) and self.scope != "folder"

    @property
    def is_filtered(self) -> bool:
        """Whether rows of the folder may be left out."""
        return bool(self.text or self.kind or self.owner or self.since)

    def chips(self) -> list[Chip]:
        """Return the filters of the kind, of which one applies, and of the user's own files."""
        keys = {("kind", kind): key for kind, key in KINDS.items()} | {("owner", "me"): "filter-mine"}
        return make_chips(keys, {"kind": self.kind, "owner": self.owner})

    def periods(self) -> list[Chip]:
        """Return the filters of the time of the last change."""
        keys = {("since", period): key for period, key in PERIODS.items()}
        return make_chips(keys, {"since": self.since})

    def path(self, tenant_id: str, folder_id: str | None) -> str:
        """Return the path of the rows in the REST API."""
        if self.is_search:
            return tenant_path(tenant_id, "search")
        inner = (folder_id, "files") if folder_id else ()
        return tenant_path(tenant_id, "owners", "me", "files", *inner)

    def query(self, folder_id: str | None) -> Mapping[str, Any]:
        """Return the query of the rows in the REST API, without the page."""
        shared = {
            "sort": self.sort,
            "foldersFirst": "true",
            "owner": self.owner or None,
            "modifiedAfter": _period_start(self.since),
            **_KIND_QUERIES.get(self.kind, {}),
        }
        if not self.is_search:
            return {**shared, "q": self.text or None, "include": "holds,locks"}
        parent = folder_id if self.scope == "below" else None
        return {
            **shared,
            "query": self.text,
            "parentId": parent,
            "include": "path,holds,locks",
        }


def requested_filters() -> Filters:
    """Return the choices of the request; what it does not know counts as not chosen."""
    return Filters(
        request.args.get("q", "").strip()[:_LONGEST_TEXT],
        _chosen("in", SCOPES),
        _chosen("kind", ("", *KINDS)),
        _chosen("sort", tuple(SORTS)),
        _owner(),
        _chosen("since", ("", *PERIODS)),
    )


def sort_links(sort: str) -> Mapping[str, str]:
    """Return the queries that sort by a column, or reverse its order, by the columns."""
    return {
        column: changed_query(sort=f"-{column}" if sort == column else column)
        for column in ("name", "size", "updatedAt")
    }


def requested_view() -> str:
    """Return how the rows are shown: as the request says, or as it was chosen before."""
    chosen = request.args.get("view", request.cookies.get(_VIEW_COOKIE, ""))
    return chosen if chosen in VIEWS else "list"


def remember_view(response: Any, path: str) -> Any:
    """Keep the view that the request has chosen, for the pages below a path; return the response."""
    if request.args.get("view") in VIEWS:
        attributes: Mapping[str, Any] = {"path": path, "httponly": True, "samesite": "Lax"}
        response.set_cookie(_VIEW_COOKIE, requested_view(), secure=request.is_secure, **attributes)
    return response


def _owner() -> str:
    owner = request.args.get("owner", "")
    return owner if owner == "me" or _ID.fullmatch(owner) else ""


def _period_start(period: str) -> str | None:
    """Return the beginning of a period up to now, as the REST API takes it; ``None`` without one."""
    if not period:
        return None
    day = today()
    first = day - timedelta(days=_DAYS[period] - 1) if period in _DAYS else day.replace(month=1, day=1)
    return start_of_day(first.isoformat(), current_visit().host.browser.zone)


def _chosen(name: str, values: tuple[str, ...]) -> str:
    text = request.args.get(name, "")
    return text if text in values else values[0]
