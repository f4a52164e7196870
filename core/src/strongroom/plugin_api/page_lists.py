"""Lists of pages: which page a request asks for, and the links to all others.

The template ``strongroom/pagination.html`` shows the variable ``links``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlencode

from flask import request

_LONGEST_NUMBER: Final = 9
"""More digits than these are no page of any list."""

_LONGEST_INTEGER: Final = 18
"""Digits of the longest number that each database stores."""

_AROUND: Final = 2
"""The pages before and after the current one that have links."""


def page_number() -> int:
    """Return the number of the page that the request asks for; 1 if it is none."""
    return max(1, read_number(request.args.get("page", ""), _LONGEST_NUMBER) or 1)


def read_number(text: str, longest: int = _LONGEST_INTEGER) -> int | None:
    """Return the number that a text is; ``None`` for another text, and for one with more digits.

    Args:
        longest: the most digits, because a number of millions of them takes long to read.
    """
    is_number = text.isascii() and text.isdecimal() and len(text) <= longest
    return int(text) if is_number else None


@dataclass(frozen=True, slots=True)
class NumberLink:
    """The link to a page by its number.

    Args:
        query: ``None`` for the current page.
        is_after_gap: whether the page before it has no link.
    """

    number: int
    query: str | None
    is_after_gap: bool


@dataclass(frozen=True, slots=True)
class PageLinks:
    """The links to other pages of a list.

    Args:
        total: the number of records of the whole list.
        number: the number of the page.
        count: the number of pages.
        previous: the query of the page before; ``None`` on the first one.
        following: the query of the next page; ``None`` on the last one.
    """

    total: int
    number: int
    count: int
    previous: str | None
    following: str | None

    @property
    def numbers(self) -> Iterator[NumberLink]:
        """The first page, those around the current one, and the last."""
        around = range(max(1, self.number - _AROUND), min(self.count, self.number + _AROUND) + 1)
        before = 0
        for number in sorted({1, *around, max(1, self.count)}):
            query = None if number == self.number else changed_query(page=number)
            yield NumberLink(number, query, is_after_gap=number > before + 1)
            before = number


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
    query = request.args.to_dict()
    # Hot: without comprehensions, which are calls, because a list has twenty such links.
    for name, value in {"page": None, "lang": None, **changes}.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = value
    return f"?{urlencode(query)}"
