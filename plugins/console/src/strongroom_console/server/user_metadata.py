"""The data about a user: two JSON objects, which are edited as text."""

import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

from flask import Blueprint, request

from strongroom.plugin_api.visits import Visit, current_visit
from strongroom_console.server.people import page_path, person_page, rest_path

user_metadata: Final = Blueprint(
    "user_metadata", __name__, url_prefix="/server/users/<user_id>/metadata"
)

_KINDS: Final = ("metadata", "server-metadata")
_MERGE: Final = {"Content-Type": "application/merge-patch+json"}

Json = Mapping[str, Any]


@user_metadata.get("")
def show_metadata(user_id: str) -> Any:
    """Show the objects as text."""
    return _page(current_visit(), user_id)


@user_metadata.post("/<any('metadata', 'server-metadata'):kind>")
def change_metadata(user_id: str, kind: str) -> Any:
    """Change an object; members that others have changed meanwhile stay."""
    visit, text = current_visit(), request.form.get("text", "")
    try:
        before, after = parsed(request.form.get("before", "")), parsed(text)
    except ValueError as error:
        return _page(visit, user_id, {kind: text}, faulty_kind=kind, fault=str(error), status=400)
    body = json.dumps(merge_patch(before, after)).encode()
    response = visit.rest("PATCH", f"{rest_path(user_id)}/{kind}", body, headers=_MERGE)
    if response.error == "error.validation-failed":
        return _page(visit, user_id, {kind: text}, faulty_kind=kind, refusal=response)
    return visit.follow(response, page_path(user_id, "metadata"), "metadata-saved")


def _page(visit: Visit, user_id: str, typed: Json | None = None, **values: Any) -> Any:
    stored = {kind: visit.read(f"{rest_path(user_id)}/{kind}") for kind in _KINDS}
    before = {kind: json.dumps(value, ensure_ascii=False, indent=2) for kind, value in stored.items()}
    texts = {**before, **(typed or {})}
    shown = {"before": before, "texts": texts, "faulty_kind": "", "fault": "", **values}
    return person_page(visit, "server/user_metadata.html", user_id, "metadata", **shown)


def parsed(text: str) -> Json:
    """Return the JSON object of a text; an empty text is an empty object.

    Raises:
        ValueError: it is none; the text of the error names the line.
    """
    try:
        value = json.loads(text or "{}", parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(value, dict):
        raise ValueError("{ ... }")  # noqa: TRY004  the text is wrong, not a type
    return value


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
