"""The filters above a list, which are links and so apply at once, and the orders of its columns."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from strongroom.plugin_api.page_lists import changed_query
from strongroom.plugin_api.visits import current_visit


def today() -> date:
    """Return the day that it is in the time zone of the page."""
    host = current_visit().host
    return datetime.fromtimestamp(host.clock.now() / 1000, host.browser.zone).date()


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter, whose link sets it, or removes it if it is set.

    Args:
        key: the key of its name.
        query: the query of the link.
        is_on: whether it is set.
    """

    key: str
    query: str
    is_on: bool


def make_chips(keys: Mapping[tuple[str, str], str], query: Mapping[str, str]) -> list[Chip]:
    """Return filters with the other parameters of the request.

    Args:
        keys: the keys of the names, by the parameter and its value.
        query: the parameters that are in force.
    """
    return [
        Chip(key, changed_query(**{name: None if query.get(name) == value else value}), is_on)
        for (name, value), key in keys.items()
        for is_on in (query.get(name) == value,)
    ]


@dataclass(frozen=True, slots=True)
class OrderLink:
    """The link of a column that orders the list by it.

    Args:
        query: the query of the link; it reverses the order that is in force.
        direction: ``ascending`` or ``descending``, if the list is in this order.
    """

    query: str
    direction: str | None


def order_links(sort: str, columns: Mapping[str, str]) -> Mapping[str, OrderLink]:
    """Return the links of columns.

    Args:
        sort: the order in force, such as ``-createdAt``, which is descending.
        columns: the order that a column begins with, by its name.
    """
    return {name: _order_link(sort, name, first) for name, first in columns.items()}


def _order_link(sort: str, name: str, first: str) -> OrderLink:
    if sort.removeprefix("-") != name:
        return OrderLink(changed_query(sort=first), None)
    is_descending = sort.startswith("-")
    following = name if is_descending else f"-{name}"
    return OrderLink(changed_query(sort=following), "descending" if is_descending else "ascending")
