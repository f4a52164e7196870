"""What was done with the files of a tenant, for its administrators."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import Any, Final

from flask import Blueprint, request

from strongroom.plugin_api.file_pages import size_text
from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.times import start_of_day
from strongroom.plugin_api.visits import current_visit, join_path
from strongroom_console.days import find_days
from strongroom_console.file_actions import ACTIONS
from strongroom_console.filters import Chip, make_chips, today
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.sentences import MARKS, Piece, split_sentence, without_marks
from strongroom_console.tenant.frame import tenant_page, tenant_path
from strongroom_console.tenant.member_list import named, offered_members

activity: Final = Blueprint("activity", __name__, url_prefix="/tenants/<tenant_id>/activity")

RANGES: Final[Mapping[str, int]] = {"today": 1, "last-7-days": 7, "last-30-days": 30}
"""The days of the ranges, by the keys of their names."""

SENTENCES: Final[Mapping[str, str]] = {
    action: f"told-{key.removeprefix('did-')}" for action, key in ACTIONS.items()
}
"""The keys of the sentences of actions."""

_SECTION: Final = "activity/"
_DAY: Final = re.compile(r"\d{4}-\d\d-\d\d")


@activity.get("/")
def show_activity(tenant_id: str) -> Any:
    """Show a page of the actions, newest first, with filters."""
    visit = current_visit()
    page = visit.read(
        tenant_path(tenant_id, "file-events"),
        pageSize=PAGE_SIZE,
        pageNumber=page_number(),
        **_filters(),
    )
    return tenant_page(
        visit,
        "tenant/activity.html",
        tenant_id,
        _SECTION,
        compress=True,
        days=find_days([_row(item, page["included"]) for item in page["data"]]),
        links=page_links(page["meta"]),
        actions=ACTIONS,
        make_pieces=partial(_pieces, tenant_id),
        ranges=_ranges(),
        actors=_actors(tenant_id),
        asked=_asked(),
    )


def _ranges() -> list[Chip]:
    """Return the links of the ranges of days that end today."""
    days = {key: f"{today() - timedelta(days=count - 1)}" for key, count in RANGES.items()}
    return make_chips({("from", first): key for key, first in days.items()}, _asked())


def _pieces(tenant_id: str, row: Mapping[str, Any], text: Callable[..., str]) -> Sequence[Piece]:
    """Return the sentence of an action in parts; nothing if it has none."""
    if row["action"] not in ACTIONS:
        return ()
    is_gone = row["action"] == "file.purged"
    path = None if is_gone else join_path("/tenants", tenant_id, "nodes", row["nodeId"])
    actor = without_marks(str(row["actor_name"]))
    names = {"actor": Piece(actor, is_name=True), "file": Piece(row["name"], path, is_name=True)}
    return split_sentence(text(SENTENCES[row["action"]], **MARKS), names)


def _actors(tenant_id: str) -> Mapping[str, str]:
    """Return the members that the filter offers, and the one that it has, who may be another."""
    actor, members = _asked()["actor"], offered_members(current_visit(), tenant_id)
    return members if not actor or actor in members else {actor: actor, **members}


def _asked() -> Mapping[str, str]:
    """Return what the form shows: no day that is none, because messengers append ``from`` to links."""
    asked = request.args
    days = {name: asked[name] for name in ("from", "to") if _DAY.fullmatch(asked.get(name, ""))}
    return {"action": asked.get("action", ""), "actor": asked.get("actor", ""), **days}


def _filters() -> Mapping[str, str | None]:
    """Return the filters that the query has, without those that are none."""
    asked, zone = request.args, current_visit().host.browser.zone
    action, actor = asked.get("action"), asked.get("actor", "")
    first, last = (asked.get(name, "") for name in ("from", "to"))
    return {
        "action": action if action in ACTIONS else None,
        "actorId": actor[:_LONGEST_ID] or None,
        "from": start_of_day(first, zone) if _DAY.fullmatch(first) else None,
        # The REST API takes the moment after the last one.
        "to": start_of_day(last, zone, later=1) if _DAY.fullmatch(last) else None,
    }


_LONGEST_ID: Final = 36


def _row(item: Mapping[str, Any], included: Mapping[str, Mapping[str, str]]) -> Mapping[str, Any]:
    is_folder = item["action"].startswith("folder.")
    return {
        **item,
        "key": ACTIONS.get(item["action"]),
        "actor_name": named(item["actor"], included)["name"],
        "represented": item["onBehalfOf"] and named(item["onBehalfOf"], included)["name"],
        "size_text": "" if is_folder or not item["size"] else size_text(item["size"]),
    }
