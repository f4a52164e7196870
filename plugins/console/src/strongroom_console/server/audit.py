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
from strongroom_console.days import find_days
from strongroom_console.filters import Chip, make_chips, today
from strongroom_console.lists import MAX_PAGE_SIZE, PAGE_SIZE
from strongroom_console.server.audit_names import keys_of_action
from strongroom_console.server.audit_search import ACTIONS, find_subject
from strongroom_console.server.forms import filters, times_of
from strongroom_console.server.frame import server_page
from strongroom_console.server.stories import make_pieces, names_in, without_names
from strongroom_console.visit import console_visit

audit: Final = Blueprint("audit", __name__, url_prefix="/server/audit")

_SECTION: Final = "audit/"
_EVENTS: Final = "/audit-events"
_TEXTS: Final = ("q", "action", "actorId", "targetType", "targetId", "address", "since", "until")
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
    "actorId": "audit-actor",
    "targetId": "audit-about",
    "address": "client-address",
}
_WITH: Final = {"targetId": ("targetType",)}
_NONE: Final[Mapping[str, Any]] = {
    "data": (),
    "included": {},
    "meta": {
        "totalCount": 0,
        "pageNumber": 1,
        "pageCount": 1,
        "hasPreviousPage": False,
        "hasNextPage": False,
    },
}
_MOST_EXPORTED: Final = 10_000
_FORMULA_SIGNS: Final = frozenset("=+-@")
_LINE_CONTROLS: Final = ("\t", "\r", "\n")


@audit.get("/")
def list_events() -> Any:
    """Show the records that the filters find, newest first."""
    visit, query = console_visit(), _query()
    search = find_subject(visit, query.get("q", ""))
    events = _NONE if search.filters is None else _read(visit, {**_sent(query), **search.filters})
    sentences = visit.host.server.audit_sentences()
    return server_page(
        visit,
        "server/audit.html",
        _SECTION,
        compress=True,
        events=events["data"],
        included=events["included"],
        links=page_links(events["meta"]),
        query=query,
        people=search.people,
        people_links={item["id"]: changed_query(q=None, actorId=item["id"]) for item in search.people},
        actions=(*ACTIONS, *sentences),
        export_query=urlencode(query),
        most_exported=_MOST_EXPORTED,
        keys_of_action=keys_of_action,
        names=names_in(visit, events["data"], events["included"]),
        sentences=sentences,
        make_pieces=make_pieces,
        without_names=without_names,
        days=find_days(events["data"]),
        ranges=_ranges(query),
        chips=make_chips(CHIPS, query),
        **_set_filters(visit, {**query, **(search.filters or {})}),
    )


def _read(visit: Visit, query: Mapping[str, str]) -> Any:
    return visit.read(_EVENTS, pageSize=PAGE_SIZE, pageNumber=page_number(), **query)


def _ranges(query: Mapping[str, str]) -> list[Chip]:
    """Return the links of the ranges of days that end today."""
    days = {key: f"{today() - timedelta(days=count - 1)}T00:00" for key, count in RANGES.items()}
    return make_chips({("since", since): key for key, since in days.items()}, query)


def _set_filters(visit: Visit, query: Mapping[str, str]) -> Mapping[str, Any]:
    """Return the filters that are set, with users by what pages call them, and the turned one."""
    ids = {query[name] for name in ("actorId", "targetId") if name in query}
    labels = visit.host.users.find_labels(ids, "whole") if ids else {}
    set_filters = [
        {
            "key": key,
            "value": labels.get(query[name], query[name]),
            "query": changed_query(**dict.fromkeys((name, "q", *_WITH.get(name, ())))),
        }
        for name, key in _SET_FILTERS.items()
        if name in query
    ]
    return {"set_filters": set_filters, "turned": _turned(query, labels) if len(ids) == 1 else None}


def _turned(query: Mapping[str, str], labels: Mapping[str, str]) -> Mapping[str, str] | None:
    """Return the filter that shows what was done to the user in place of what the user did, or back."""
    [(user_id, name)] = labels.items() or [("", "")]
    if not user_id:
        return None
    if "actorId" in query:
        changes = {"actorId": None, "targetId": user_id, "targetType": "user"}
        return {"key": "done-to", "name": name, "query": changed_query(q=None, **changes)}
    changes = {"actorId": user_id, "targetId": None, "targetType": None}
    return {"key": "all-by", "name": name, "query": changed_query(q=None, **changes)}


@audit.get("/chain")
def show_chain() -> Any:
    """Verify the chain of the records, as far as two seconds suffice."""
    visit = current_visit()
    return server_page(visit, "server/audit_chain.html", _SECTION, chain=visit.host.server.audit_chain())


@audit.get("/export")
def export_events() -> Any:
    """Return the newest records that the filters find, as a file: CSV, or JSON lines."""
    visit, query = console_visit(), _query()
    subject = find_subject(visit, query.get("q", "")).filters
    rows = iter(()) if subject is None else _exported(visit, {**_sent(query), **subject})
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
    """Return the parameters that the REST API has."""
    parameters = {name: text for name, text in query.items() if name != "q"}
    return times_of(parameters, "since", "until")


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
