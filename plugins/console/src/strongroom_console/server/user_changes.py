"""Changes of several users of the list at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.visits import Flash, current_visit
from strongroom.plugin_api.web import RestResponse
from strongroom_console.selected import MOST_UNDONE, chosen_change, list_query, show_partly
from strongroom_console.server.people import rest_path

user_changes: Final = Blueprint("user_changes", __name__, url_prefix="/server/users")


@dataclass(frozen=True, slots=True)
class Change:
    """A change of a user.

    Args:
        method: the method of the request to the REST API.
        path: its path, below the user's.
        one: the key of the text of a success for one user, with the name.
        several: the same for several, with their number.
        inverse: the change that undoes it, if any.
    """

    method: str
    path: str
    one: str
    several: str
    inverse: str | None = None


CHANGES: Final[Mapping[str, Change]] = {
    "suspend": Change("POST", "suspension", "one-suspended", "several-suspended", "reinstate"),
    "reinstate": Change("DELETE", "suspension", "one-reinstated", "several-reinstated", "suspend"),
    "log-out": Change("DELETE", "authorizations", "one-logged-out", "several-logged-out"),
}


@user_changes.post("/changes")
def change_users() -> Any:
    """Suspend, reinstate or log out the selected users, or the one of a row."""
    visit = current_visit()
    name, user_ids = chosen_change("user")
    change, page = CHANGES.get(name), f"/server/users/{list_query()}"
    if change is None or not user_ids:
        return visit.redirect(page, "nobody-selected")
    responses = {user_id: _apply(change, user_id) for user_id in user_ids}
    refused = {user_id: item for user_id, item in responses.items() if item.error is not None}
    if refused:
        first = next(iter(refused))
        name = visit.host.users.find_labels([first], "whole").get(first, "")
        return show_partly(visit, refused, len(user_ids), page, name)
    visit.flash(_flash(change, user_ids))
    return visit.redirect(page)


def _apply(change: Change, user_id: str) -> RestResponse:
    body: Any = {} if change.method == "POST" else None
    return current_visit().rest(change.method, f"{rest_path(user_id)}/{change.path}", body)


def _flash(change: Change, user_ids: Sequence[str]) -> Flash:
    can_undo = change.inverse and len(user_ids) <= MOST_UNDONE
    undo = {"undo": change.inverse, "users": list(user_ids)} if can_undo else {}
    if len(user_ids) > 1 or request.form.get("undo"):
        return Flash(change.several, {"count": str(len(user_ids))}, values=undo)
    labels = current_visit().host.users.find_labels(user_ids, "whole")
    return Flash(change.one, {"name": labels[user_ids[0]]}, values=undo)
