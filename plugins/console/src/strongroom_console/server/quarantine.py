"""Files that a scanner has refused, which an administrator releases or deletes."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint
from werkzeug.exceptions import NotFound

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.page_lists import page_number
from strongroom.plugin_api.times import shown_moment
from strongroom.plugin_api.visits import current_visit, join_path
from strongroom_console.lists import PAGE_SIZE, Json, read_matching
from strongroom_console.server.forms import field, filters
from strongroom_console.server.frame import server_page
from strongroom_console.server.questions import Question, ask

quarantine: Final = Blueprint("quarantine", __name__, url_prefix="/server/quarantine")

_SECTION: Final = "quarantine/"
_FILES: Final = "/api/v1/quarantine"
_HERE: Final = "/server/quarantine/"


@quarantine.get("/")
def list_files() -> Any:
    """Show the files in quarantine."""
    visit = current_visit()
    query = filters("q")
    sought = query.get("q", "")
    files, included, links = read_matching(visit, _FILES, sought, lambda file, _: str(file["name"]))
    return server_page(
        visit,
        "server/quarantine.html",
        _SECTION,
        files=[{**file, "finding": _finding(file), "signature": _signature(file)} for file in files],
        included=included,
        size_text=size_text,
        page=1 if query else links.number,
        links=links,
        query=query,
    )


@quarantine.get("/<scan_id>/release")
def ask_about_release(scan_id: str) -> Any:
    """Show the question before a file is released."""
    texts = ("release-named", "quarantine-release-hint", "release")
    return _ask(scan_id, "release", texts, reason="reason-logged")


@quarantine.get("/<scan_id>/deletion")
def ask_about_deletion(scan_id: str) -> Any:
    """Show the question before a file is deleted."""
    return _ask(scan_id, "deletion", ("delete-named", "delete-quarantined-hint", "delete"))


@quarantine.post("/<scan_id>/release")
def release(scan_id: str) -> Any:
    """Release a file, for a reason that the audit log records."""
    visit = current_visit()
    response = visit.rest("POST", f"{_path(scan_id)}/release", {"reason": field("reason")})
    return visit.follow(response, _HERE, "file-released")


@quarantine.post("/<scan_id>/deletion")
def delete(scan_id: str) -> Any:
    """Delete a file."""
    visit = current_visit()
    return visit.follow(visit.rest("DELETE", _path(scan_id)), _HERE, "quarantined-deleted")


def _path(scan_id: str) -> str:
    return join_path(_FILES, scan_id)


def _find(scan_id: str) -> tuple[Json, Json]:
    """Return a file in quarantine, and the summaries; the query names the page of the list."""
    visit = current_visit()
    page = visit.read(_FILES, pageSize=PAGE_SIZE, pageNumber=page_number())
    if all(file["id"] != scan_id for file in page["data"]):
        # A search leads to files of all pages.
        listed = visit.read_all(_FILES)
        page = {"data": listed.data, "included": listed.included}
    files = [file for file in page["data"] if file["id"] == scan_id]
    if not files:
        raise NotFound
    return files[0], page["included"]


def _finding(file: Mapping[str, Any]) -> str:
    """Return the key of the text that says why a file is in quarantine."""
    if file["scan"] == "infected":
        return "found-malware"
    return "found-refused" if _has_code(file) else "found-unscannable"


def _signature(file: Mapping[str, Any]) -> str:
    """Return the scanner's name of the finding; a rule has none but the code of its error."""
    return "" if _has_code(file) else str(file["reason"])


def _has_code(file: Mapping[str, Any]) -> bool:
    return bool(file["scan"] == "rejected" and file["reason"].startswith("error."))


def _ask(scan_id: str, change: str, texts: tuple[str, str, str], reason: str | None = None) -> Any:
    (file, included), (heading, hint, button) = _find(scan_id), texts
    owner_id = file["owner"]["$ref"]
    note = _signature(file)
    facts = {
        **({"scanner-note": note} if note else {}),
        "size": size_text(file["size"]),
        "owner": included.get(owner_id, {}).get("name", owner_id),
        "scanned": shown_moment(file["scannedAt"], current_visit().host.browser.zone),
    }
    action = join_path(_HERE.rstrip("/"), scan_id, change)
    findings = {"quarantine-finding": _finding(file)}
    return ask(
        _SECTION, Question(heading, file["name"], hint, button, action, _HERE, facts, reason, findings)
    )
