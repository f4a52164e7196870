"""The records that the form of a list selects, and what to do with them."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from flask import request

from strongroom.plugin_api.visits import Flash, Visit
from strongroom.plugin_api.web import RestResponse

MOST_UNDONE: Final = 20
"""The most records that a notice offers to restore, because a cookie has room for no more ids."""

_MOST: Final = 200
_LONGEST_QUERY: Final = 1000


def chosen_change(name: str) -> tuple[str, Sequence[str]]:
    """Return the change that was requested, and the ids of the records to change, each once.

    The button of a row is named ``row``; its value has the change and the id.

    Args:
        name: the name of the checkboxes.
    """
    change, _, row = request.form.get("row", "").partition(":")
    if row:
        return change, [row]
    ids = list(dict.fromkeys(request.form.getlist(name)))
    return request.form.get("change", ""), ids[:_MOST]


def list_query() -> str:
    """Return the query of the list that the form belongs to."""
    query = request.form.get("query", "")[:_LONGEST_QUERY].lstrip("?")
    return f"?{query}" if query else ""


def show_partly(
    visit: Visit, refused: Mapping[str, RestResponse], count: int, page: str, name: str
) -> Any:
    """Return to a list after changes some of which were refused, or to the proof that they require.

    Args:
        refused: the responses to the changes that were refused, by the ids of the users.
        count: the number of all changes.
        page: the path of the list.
        name: the name of the first user whose change was refused; empty: unknown.
    """
    first = next(iter(refused.values()))
    if len(refused) == count:
        return visit.follow(first, page)
    texts = {"done": str(count - len(refused)), "count": str(count), "name": name}
    reason = visit.problem_text(first)
    notice = "error.partly-changed-named" if name else "error.partly-changed"
    visit.flash(Flash(notice, {**texts, "reason": reason}))
    return visit.redirect(page)
