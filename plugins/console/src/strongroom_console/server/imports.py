"""Imports of users from a file, and their export."""

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final
from urllib.parse import urlencode

from flask import Blueprint, Response, request

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import Refused, Visit, current_visit, join_path
from strongroom.plugin_api.web import RestResponse
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.server.forms import field, is_checked
from strongroom_console.server.frame import server_page

imports: Final = Blueprint("imports", __name__, url_prefix="/server/imports")

_SECTION: Final = "imports/"
_IMPORTS: Final = "/user-imports"
_LINES: Final = {"Content-Type": "application/x-ndjson"}
_SHOWN_ERRORS: Final = 100

STATES: Final[Mapping[str, str]] = {
    "receiving": "import-receiving",
    "waiting": "import-waiting",
    "running": "import-running",
    "finished": "import-finished",
    "cancelled": "import-cancelled",
    "revoked": "import-revoked",
}
"""The keys of the names of the states of an import."""


@imports.get("/")
def list_imports() -> Any:
    """Show the imports of the last month, and the form of a new one."""
    visit = current_visit()
    jobs = visit.read(_IMPORTS, pageSize=PAGE_SIZE, pageNumber=page_number())
    links = page_links(jobs["meta"])
    return server_page(
        visit, "server/imports.html", _SECTION, jobs=jobs["data"], states=STATES, links=links
    )


@imports.post("/")
def begin_import() -> Any:
    """Import the users of a file, or check them only."""
    visit, file = current_visit(), request.files.get("file")
    if file is None:
        return visit.redirect("/server/imports/")
    options = {
        "onConflict": field("onConflict"),
        "dryRun": str(is_checked("dryRun")).lower(),
        "events": str(is_checked("events")).lower(),
    }
    path = f"{_IMPORTS}?{urlencode(options)}"
    response = visit.rest("POST", path, file.stream, headers=_LINES)
    if response.error is not None:
        return visit.follow(response, "/server/imports/")
    return visit.redirect(f"/server/imports/{response.json['id']}/", "import-begun")


@imports.get("/<import_id>/")
def show_import(import_id: str) -> Any:
    """Show the progress of an import, and the lines that were refused."""
    visit = current_visit()
    job = visit.read(_path(import_id))
    errors = _errors(visit, import_id) if job["failed"] else ()
    values = {"states": STATES, "errors": errors, "shown_errors": _SHOWN_ERRORS}
    return server_page(visit, "server/import.html", _SECTION, job=job, **values)


@imports.get("/<import_id>/errors")
def download_errors(import_id: str) -> Any:
    """Return the refused lines as a file of JSON lines."""
    return _download(f"{_path(import_id)}/errors", "import-errors.ndjson")


@imports.post("/<import_id>/cancellation")
def cancel_import(import_id: str) -> Any:
    """Cancel an import; users who are imported already stay."""
    visit = current_visit()
    response = visit.rest("DELETE", _path(import_id))
    here = join_path("/server/imports", import_id, "")
    return visit.follow(response, here, "import-was-cancelled")


@imports.post("/export")
def export_users() -> Any:
    """Return all users as a file of JSON lines. The audit log records it, so it is no GET."""
    return _download("/user-exports", "users.ndjson")


def _path(import_id: str) -> str:
    return join_path(_IMPORTS, import_id)


def _errors(visit: Visit, import_id: str) -> Sequence[Mapping[str, Any]]:
    response = _stream(visit, f"{_path(import_id)}/errors")
    # Each piece of the response is one line.
    errors = [json.loads(line) for line in islice(response.pieces, _SHOWN_ERRORS)]
    close = getattr(response.pieces, "close", None)
    if close is not None:
        close()
    return errors


def _stream(visit: Visit, path: str) -> RestResponse:
    response = visit.rest("GET", path, stream=True)
    if response.error is not None:
        raise Refused(response)
    return response


def _download(path: str, name: str) -> Any:
    visit = current_visit()
    response = visit.rest("GET", path, stream=True)
    if response.error is not None:
        return visit.follow(response, "/server/imports/")
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **_LINES}
    return Response(response.pieces, headers=headers)
