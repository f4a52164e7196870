"""The users of the server: the search, its filters, and the order."""

from collections.abc import Mapping
from typing import Any, Final

from flask import Blueprint

from strongroom.plugin_api.page_lists import page_links, page_number
from strongroom.plugin_api.visits import current_visit
from strongroom_console.filters import Chip, OrderLink, make_chips, order_links
from strongroom_console.lists import PAGE_SIZE
from strongroom_console.server.forms import filters
from strongroom_console.server.frame import server_page
from strongroom_console.server.people import USERS

user_list: Final = Blueprint("user_list", __name__, url_prefix="/server/users")

_ORDERS: Final = ("-createdAt", "createdAt", "name", "-name", "-lastLoginAt", "lastLoginAt")
_FILTERS: Final = {"type": ("USER", "ADMIN", "SERVICE"), "status": ("active", "suspended")}

CHIPS: Final[Mapping[tuple[str, str], str]] = {
    ("type", "ADMIN"): "administrators",
    ("type", "SERVICE"): "service-accounts",
    ("status", "suspended"): "suspended-ones",
}
"""The keys of the names of the filters, by the parameters of the query."""


@user_list.get("/")
def list_users() -> Any:
    """Show the users that the search and the filters find."""
    visit = current_visit()
    query = {"sort": _ORDERS[0], **filters("q", sort=_ORDERS, **_FILTERS)}
    users = visit.read("/users", pageSize=PAGE_SIZE, pageNumber=page_number(), **query)
    return server_page(
        visit,
        "server/users.html",
        USERS,
        compress=True,
        users=users["data"],
        links=page_links(users["meta"]),
        query=query,
        chips=_chips(query),
        orders=_orders(query["sort"]),
    )


def _chips(query: Mapping[str, str]) -> list[Chip]:
    return make_chips(CHIPS, query)


def _orders(sort: str) -> Mapping[str, OrderLink]:
    return order_links(sort, {"name": "name", "lastLoginAt": "-lastLoginAt", "createdAt": "-createdAt"})
