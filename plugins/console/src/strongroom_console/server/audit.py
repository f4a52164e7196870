"""The audit log: its records by filters, their export, and the verification of the chain."""

import csv
import io
import json
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from strongroom.plugin_api.page_lists import changed_query, page_links, page_number
from strongroom.plugin_api.visits import Visit, current_visit
from strongroom_console.filters import Chip, make_chips, today
from strongroom_console.lists import MAX_PAGE_SIZE, PAGE_SIZE
from strongroom_console.server.audit_names import keys_of_action
from strongroom_console.server.forms import filters, times_of
from strongroom_console.server.frame import server_page
from strongroom_console.server.stories import make_pieces, names_in

audit: Final = Blueprint("audit", __name__, url_prefix="/server/audit")

_SECTION: Final = "audit/"
_EVENTS: Final = "/audit-events"
_TEXTS: Final = ("action", "actorId", "targetType", "targetId", "address", "since", "until")
_OUTCOMES: Final = ("success", "failure")
_COLUMNS: Final = (
    "id",
    "at",
    "action",
    "outcome",
    "actorId",
    "actorName",
    "targetType",
    "targetId",
    "address",
    "userAgent",
    "requestId",
    "details",
)
CHIPS: Final[Mapping[tuple[str, str], str]] = {
    ("outcome", "failure"): "failures-only",
    ("action", "login"): "logins-only",
    ("action", "user.suspend"): "suspensions-only",
}
"""The keys of the names of the filters that are links, by the parameters of the query."""

RANGES: Final[Mapping[str, int]] = {"today": 1, "last-7-days": 7, "last-30-days": 30}
"""The days of the ranges, by the keys of their names."""

_SET_FILTERS: Final = {
    "actorId": "actor-id",
    "targetType": "target-type",
    "targetId": "target-id",
    "address": "client-address",
}
_MOST_EXPORTED: Final = 10_000
_FORMULA_SIGNS: Final = frozenset("=+-@")
_LINE_CONTROLS: Final = ("\t", "\r", "\n")


@audit.get("/")
def list_events() -> Any:
    """Show the records that the filters find, newest first."""
    visit = current_visit()
    query = _query()
    events = visit.read(_EVENTS, pageSize=PAGE_SIZE, pageNumber=page_number(), **_sent(query))
    return server_page(
        visit,
        "server/audit.html",
        _SECTION,
        compress=True,
        events=events["data"],
        included=events["included"],
        links=page_links(events["meta"]),
        query=query,
        export_query=urlencode(query),
        most_exported=_MOST_EXPORTED,
        keys_of_action=keys_of_action,
        names=names_in(visit, events["data"], events["included"]),
        make_pieces=make_pieces,
        ranges=_ranges(query),
        chips=make_chips(CHIPS, query),
        set_filters=_set_filters(query),
    )


def _ranges(query: Mapping[str, str]) -> list[Chip]:
    """Return the links of the ranges of days that end today."""
    days = {key: f"{today() - timedelta(days=count - 1)}T00:00" for key, count in RANGES.items()}
    return make_chips({("since", since): key for key, since in days.items()}, query)


def _set_filters(query: Mapping[str, str]) -> list[Mapping[str, str]]:
    """Return the filters of the form that are set, each with the query without it."""
    return [
        {"key": key, "value": query[name], "query": changed_query(**{name: None})}
        for name, key in _SET_FILTERS.items()
        if name in query
    ]


@audit.get("/chain")
def show_chain() -> Any:
    """Verify the chain of the records, as far as two seconds suffice."""
    visit = current_visit()
    return server_page(visit, "server/audit_chain.html", _SECTION, chain=visit.host.server.audit_chain())


@audit.get("/export")
def export_events() -> Any:
    """Return the newest records that the filters find, as a file: CSV, or JSON lines."""
    visit = current_visit()
    rows = _exported(visit, _sent(_query()))
    is_csv = request.args.get("format") == "csv"
    name = "audit.csv" if is_csv else "audit.ndjson"
    headers = {
        "Content-Type": "text/csv; charset=utf-8" if is_csv else "application/x-ndjson",
        "Content-Disposition": f'attachment; filename="{name}"',
    }
    return Response(b"".join(_csv(rows) if is_csv else _lines(rows)), headers=headers)


def _query() -> Mapping[str, str]:
    return filters(*_TEXTS, outcome=_OUTCOMES)


def _sent(query: Mapping[str, str]) -> Mapping[str, str]:
    return times_of(query, "since", "until")


def _exported(visit: Visit, query: Mapping[str, str]) -> Iterator[Mapping[str, Any]]:
    for number in range(1, _MOST_EXPORTED // MAX_PAGE_SIZE + 1):
        page = visit.read(_EVENTS, pageSize=MAX_PAGE_SIZE, pageNumber=number, **query)
        for event in page["data"]:
            yield _row(event, page["included"])
        if not page["meta"]["hasNextPage"]:
            return


def _row(event: Mapping[str, Any], included: Mapping[str, Any]) -> Mapping[str, Any]:
    actor_id = (event["actor"] or {}).get("$ref")
    target = event["target"] or {"type": None, "id": None}
    described = {
        "actorId": actor_id,
        "actorName": included.get(actor_id or "", {}).get("name"),
        "targetType": target["type"],
        "targetId": target["id"],
    }
    return {name: described.get(name, event.get(name)) for name in _COLUMNS}


def _lines(rows: Iterator[Mapping[str, Any]]) -> Iterator[bytes]:
    for row in rows:
        yield (json.dumps(row, ensure_ascii=False) + "\n").encode(errors="replace")


def _csv(rows: Iterator[Mapping[str, Any]]) -> Iterator[bytes]:
    yield _csv_line(_COLUMNS)
    for row in rows:
        details = json.dumps(row["details"], ensure_ascii=False)
        yield _csv_line([_cell(details if name == "details" else row[name]) for name in _COLUMNS])


def _csv_line(cells: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue().encode(errors="replace")


def _cell(value: Any) -> str:
    """Return a cell that no spreadsheet takes for a formula: names and programs are input of others."""
    text = "" if value is None else str(value)
    # East Asian versions of Excel also accept full-width signs.
    first = unicodedata.normalize("NFKC", text.lstrip()[:1])
    is_formula = first in _FORMULA_SIGNS or text.startswith(_LINE_CONTROLS)
    return f"'{text}" if is_formula else text
