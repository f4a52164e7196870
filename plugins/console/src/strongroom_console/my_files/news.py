"""Whether files have changed, which scripts of lists poll."""

from http import HTTPStatus
from typing import Any, Final

from flask import Blueprint, Response, request

from strongroom.plugin_api.page_lists import read_number
from strongroom.plugin_api.visits import current_visit
from strongroom_console.tenant.frame import tenant_path

news: Final = Blueprint("news", __name__)

_LONGEST_CURSOR: Final = 15


@news.get("/tenants/<tenant_id>/news")
def show_news(tenant_id: str) -> Any:
    """Return the newest position in the changes that the user sees, and whether some are after another.

    Without a position in the query, or with one that has expired, nothing is reported.
    """
    visit = current_visit()
    cursor = read_number(request.args.get("cursor", ""), _LONGEST_CURSOR)
    path = tenant_path(tenant_id, "changes")
    response = visit.rest("GET", path if cursor is None else f"{path}?cursor={cursor}")
    if response.status == HTTPStatus.GONE:
        response = visit.rest("GET", path)
    if response.error is not None:
        return Response(status=response.status)
    return {"cursor": response.json["meta"]["cursor"], "hasNews": bool(response.json["data"])}
