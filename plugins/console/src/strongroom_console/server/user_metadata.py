"""The data about a user: two JSON objects, which are edited as rows or as text."""

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final, NoReturn

from flask import Blueprint, request

from strongroom.plugin_api.visits import Visit, current_visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.server.metadata_rows import RowFaulty, list_rows, parse_rows
from strongroom_console.server.people import page_path, person_page, rest_path

user_metadata: Final = Blueprint(
    "user_metadata", __name__, url_prefix="/server/users/<user_id>/metadata"
)

_KINDS: Final = ("metadata", "server-metadata")
_MERGE: Final = {"Content-Type": "application/merge-patch+json"}

Json = Mapping[str, Any]


@user_metadata.get("")
def show_metadata(user_id: str) -> Any:
    """Show the objects as rows and as text."""
    return _page(current_visit(), user_id)


@user_metadata.post("/<any('metadata', 'server-metadata'):kind>")
def change_metadata(user_id: str, kind: str) -> Any:
    """Change an object by its text; members that others have changed meanwhile stay."""
    visit, text = current_visit(), request.form.get("text", "")
    try:
        before, after = parsed(request.form.get("before", "")), parsed(text)
    except ValueError as error:
        return _page(visit, user_id, {kind: text}, faulty_kind=kind, fault=str(error), status=400)
    response = _patch(visit, user_id, kind, before, after)
    if response.error == "error.validation-failed":
        return _page(visit, user_id, {kind: text}, faulty_kind=kind, refusal=response)
    return visit.follow(response, page_path(user_id, "metadata"), "metadata-saved")


@user_metadata.post("/<any('metadata', 'server-metadata'):kind>/rows")
def change_rows(user_id: str, kind: str) -> Any:
    """Change an object by its rows; members that others have changed meanwhile stay."""
    visit, form = current_visit(), request.form
    typed = [*zip(form.getlist("key"), form.getlist("value"), strict=False)]
    try:
        before, after = parsed(form.get("before", "")), parse_rows(typed, _parse)
    except RowFaulty as error:
        return _page(
            visit,
            user_id,
            typed={kind: typed},
            faulty_rows=kind,
            row_fault=str(error),
            faulty_place=error.place,
            status=HTTPStatus.BAD_REQUEST,
        )
    except ValueError:
        return visit.redirect(page_path(user_id, "metadata"))
    response = _patch(visit, user_id, kind, before, after)
    if response.error == "error.validation-failed":
        return _page(visit, user_id, typed={kind: typed}, faulty_rows=kind, refusal=response)
    return visit.follow(response, page_path(user_id, "metadata"), "metadata-saved")


def _patch(visit: Visit, user_id: str, kind: str, before: Json, after: Json) -> RestResponse:
    body = json.dumps(merge_patch(before, after)).encode()
    return visit.rest("PATCH", f"{rest_path(user_id)}/{kind}", body, headers=_MERGE)


def _page(
    visit: Visit, user_id: str, text: Json | None = None, typed: Json | None = None, **values: Any
) -> Any:
    stored = {kind: visit.read(f"{rest_path(user_id)}/{kind}") for kind in _KINDS}
    before = {kind: json.dumps(value, ensure_ascii=False, indent=2) for kind, value in stored.items()}
    texts = {**before, **(text or {})}
    rows = {**{kind: list_rows(value) for kind, value in stored.items()}, **(typed or {})}
    faults = {"faulty_kind": "", "fault": "", "faulty_rows": "", "row_fault": "", "faulty_place": None}
    shown = {"before": before, "texts": texts, "rows": rows, **faults, **values}
    return person_page(visit, "server/user_metadata.html", user_id, "metadata", **shown)


def parsed(text: str) -> Json:
    """Return the JSON object of a text; an empty text is an empty object.

    Raises:
        ValueError: it is none; the text of the error names the line.
    """
    try:
        value = _parse(text or "{}")
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("{ ... }")  # noqa: TRY004  the text is wrong, not a type
    return value


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def merge_patch(before: Json, after: Json) -> dict[str, Any]:
    """Return the merge patch (RFC 7396) that makes one object another."""
    patch: dict[str, Any] = dict.fromkeys(before.keys() - after.keys())
    for key, value in after.items():
        former = before.get(key)
        if isinstance(value, dict) and isinstance(former, dict):
            patch[key] = merge_patch(former, value)
        elif key not in before or value != former:
            patch[key] = value
    return patch
