"""The response envelope of collections, with paging."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode

from strongroom.foundation.database.paging import Page, Paging
from strongroom.web.http.cursors import make_cursor, read_cursor
from strongroom.web.http.request import PublicUrl, current_environ, get_service, request_path

T = TypeVar("T")

_OF_PAGES = ("pageSize", "pageNumber", "cursor")


@dataclass(frozen=True, slots=True)
class Links:
    """The URLs of a collection's pages.

    Args:
        root: the public root URL, see :class:`PublicUrl`.
        query: the query string of a request for one of the pages.
    """

    root: str
    path: str
    query: str = ""

    def to(self, number: int, size: int) -> str:
        """Return the URL of a page."""
        return f"{self.root}{_beginning(self.path, self.query)}pageSize={size}&pageNumber={number}"

    def after(self, values: Sequence[Any], size: int) -> str:
        """Return the URL of the page after the cursor of some values."""
        cursor = make_cursor(self.listed, values)
        return f"{self.root}{_beginning(self.path, self.query)}pageSize={size}&cursor={cursor}"

    @property
    def listed(self) -> str:
        """The list that all pages are of, which a cursor is bound to."""
        return f"{self.path}?{_other_parameters(self.query)}"


# Pages of one list differ in few parameters, and parsing them takes longer than reading a short page.
@lru_cache(maxsize=256)
def _beginning(path: str, query: str) -> str:
    """Return the beginning of the URLs of all pages, without the root."""
    return f"{quote(path)}?{_other_parameters(query)}"


def _other_parameters(query: str) -> str:
    """Return the query parameters that are the same for all pages, as the beginning of a query."""
    parameters = parse_qsl(query, keep_blank_values=True, errors="werkzeug.url_quote")
    first = dict(reversed(parameters))
    others = {name: first[name] for name, _ in parameters if name not in _OF_PAGES}
    return f"{urlencode(others)}&" if others else ""


def paging(query: Mapping[str, Any]) -> Paging:
    """Return the paging of a parsed query, by number or by cursor.

    Raises:
        ValidationFailed: the cursor is not one of this list for the caller.
    """
    cursor, size = query["cursor"], query["pageSize"]
    if cursor is None:
        return Paging(query["pageNumber"], size)
    number, *key = read_cursor(_current_links().listed, cursor) if cursor else (0,)
    return Paging(number + 1, size, tuple(key))


def reference(entity_id: str) -> dict[str, str]:
    """Return a reference to an entity, whose summary is in ``included``."""
    return {"$ref": entity_id}


def envelope(
    page: Page[T],
    serialize: Callable[[T], Any] = lambda record: record,
    included: Iterable[Mapping[str, str]] = (),
    links: Links | None = None,
) -> dict[str, Any]:
    """Return the response body of a page.

    Args:
        serialize: serializes a record.
        included: the summaries of the entities that the records refer to.
        links: the URLs of other pages; by default, pages of the current request.
    """
    return {
        "success": True,
        "meta": _meta(page, links or _current_links()),
        "data": [serialize(item) for item in page.items],
        "included": {summary["id"]: summary for summary in included},
    }


def _meta(page: Page[Any], links: Links) -> dict[str, Any]:
    number, size = page.paging.number, page.paging.size
    count = -(-page.total // size)
    previous, following = _neighbours(page, links, count)
    return {
        "totalCount": page.total,
        "pageSize": size,
        "pageNumber": number,
        "pageCount": count,
        "isFirstPage": number == 1,
        "isLastPage": following is None,
        "hasPreviousPage": previous is not None,
        "previousPageLink": previous,
        "hasNextPage": following is not None,
        "nextPageLink": following,
    }


def _neighbours(page: Page[Any], links: Links, count: int) -> tuple[str | None, str | None]:
    """Return the URLs of the page before and of the page after, of so many pages."""
    number, size = page.paging.number, page.paging.size
    if page.paging.after is not None:
        # Cursors lead forwards only.
        key = page.following
        return None, None if key is None else links.after((number, *key), size)
    # From a page beyond the end, the page before is the last one.
    before = links.to(min(number - 1, max(count, 1)), size) if number > 1 else None
    return before, links.to(number + 1, size) if number < count else None


def _current_links() -> Links:
    query = current_environ().get("QUERY_STRING", "").encode("latin-1").decode(errors="replace")
    return Links(get_service(PublicUrl).root, request_path(), query)
