"""Pages of lists."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, TypeVar
from urllib.parse import parse_qs, urlsplit

T = TypeVar("T")
S = TypeVar("S")

PAGE_SIZE: Final = 200
"""The most records that a page of the REST API has."""


@dataclass(frozen=True, slots=True)
class ResultPage(Generic[T]):
    """A page of a list.

    Args:
        items: the records of the page.
        total: the number of records of the whole list.
        number: the number of the page, starting at 1.
        size: the maximum number of records of a page.
        is_by_cursor: whether the page was read by cursor, as the query of a request demanded.
        following: the key of the last record, if the page was read by cursor and others follow.
    """

    items: Sequence[T]
    total: int
    number: int
    size: int
    is_by_cursor: bool = False
    following: Sequence[Any] | None = None

    def map(self, convert: Callable[[T], S]) -> "ResultPage[S]":
        """Return the page with its records converted."""
        page: Any = self
        result: ResultPage[S] = replace(page, items=[convert(item) for item in self.items])
        return result

    @property
    def next(self) -> int | None:
        """The number of the next page; ``None`` for the last one."""
        return self.number + 1 if self.number * self.size < self.total else None


@dataclass(frozen=True, slots=True)
class Records:
    """The records of all pages of a list of the REST API.

    Args:
        data: the records.
        included: the summaries of the entities that the records refer to, by their ids.
        total: the number of records of the whole list; of those that were searched for, if they were.
    """

    data: Sequence[Mapping[str, Any]]
    included: Mapping[str, Mapping[str, Any]]
    total: int

    @property
    def is_cut(self) -> bool:
        """Whether the list has more records than were read."""
        return self.total > len(self.data)


Matches = Callable[[Mapping[str, Any], Mapping[str, Mapping[str, Any]]], bool]
"""Returns whether a record is searched for, by the record and the summaries that it refers to."""


def read_records(
    read: Callable[[str, int], Mapping[str, Any]], most: int, matches: Matches | None = None
) -> Records:
    """Return the records of a list of the REST API, page by page.

    Args:
        read: returns the body of a page by its cursor, which is empty for the first one, and its size.
        most: the number of records after which no other page is read.
        matches: ``None``: all records are searched for.
    """
    data: list[Mapping[str, Any]] = []
    included: dict[str, Mapping[str, Any]] = {}
    cursor = ""
    while True:
        page = read(cursor, PAGE_SIZE)
        matching = [item for item in page["data"] if matches is None or matches(item, page["included"])]
        data += matching
        if matching:
            included |= page["included"]
        if not page["meta"]["hasNextPage"]:
            # A record that was removed while the pages were read is no cut.
            return Records(data, included, len(data))
        if len(data) >= most:
            return Records(data, included, page["meta"]["totalCount"])
        (cursor,) = parse_qs(urlsplit(page["meta"]["nextPageLink"]).query)["cursor"]


class ListsAPI(ABC):
    """Pages of lists, for routes: ``host.lists``."""

    @abstractmethod
    def page(
        self,
        records: Sequence[T],
        query: Mapping[str, Any],
        key: Callable[[T], tuple[Any, ...]],
        *,
        descending: bool = False,
    ) -> ResultPage[T]:
        """Sort records that are all in memory, and return the page that a request demands.

        Records of tables are read by :meth:`strongroom.plugin_api.state.Transaction.page`.

        Args:
            query: the parsed query, with the fields of
                :class:`~strongroom.plugin_api.schemas.PagingQuery`.
            key: returns the unique key of a record, a tuple of numbers and texts.

        Raises:
            ApiError: the cursor of the query is not one of this list for the caller.
        """

    @abstractmethod
    def collection(self, page: ResultPage[Any], query: Mapping[str, Any]) -> Any:
        """Return the response body of a page, with the links to other pages.

        Args:
            page: the page of :meth:`page` or of a transaction, or one that is read by its number.
            query: the parsed query, with the fields of
                :class:`~strongroom.plugin_api.schemas.PagingQuery`.

        Raises:
            ApiError: the query has a cursor, and the page was read by its number.
        """
