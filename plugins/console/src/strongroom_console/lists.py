"""Pages of lists: which one a request asks for, and the links to the others."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import request

from strongroom_console.numbers import number_in

PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 200
"""The most records of one page."""
_LONGEST_NUMBER: Final = 9


def page_number() -> int:
    """Return the number of the page that the request asks for; 1 if it is none."""
    # More digits than these are no page of any list.
    return max(1, number_in(request.args.get("page", "1"), _LONGEST_NUMBER) or 1)


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The links to other pages of a list.

    Args:
        total: the number of records of the whole list.
        previous: the query of the page before; ``None`` on the first one.
        following: the query of the next page; ``None`` on the last one.
    """

    total: int
    number: int
    count: int
    previous: str | None
    following: str | None


def page_links(meta: Mapping[str, Any]) -> PageLinks:
    """Return the links of a page, by the ``meta`` of the response of the REST API."""
    number = meta["pageNumber"]
    return PageLinks(
        meta["totalCount"],
        number,
        meta["pageCount"],
        changed_query(page=number - 1) if meta["hasPreviousPage"] else None,
        changed_query(page=number + 1) if meta["hasNextPage"] else None,
    )


def changed_query(**changes: Any) -> str:
    """Return the query of the request with other values; ``None`` removes one.

    It has no ``page`` unless that is a change, because other rows begin with the first page.
    """
    others = {name: value for name, value in request.args.items() if name not in ("page", "lang")}
    changed = {name: value for name, value in {**others, **changes}.items() if value is not None}
    return f"?{urlencode(changed)}"
