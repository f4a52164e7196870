"""Pages of lists: their sizes, and lists that the console searches."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from strongroom.plugin_api.page_lists import PageLinks, page_links, page_number
from strongroom.plugin_api.paging import read_records
from strongroom.plugin_api.visits import Visit

PAGE_SIZE: Final = 50
MAX_PAGE_SIZE: Final = 200
"""The most records of one page."""

Json = Mapping[str, Any]


def read_matching(
    visit: Visit,
    path: str,
    sought: str,
    name: Callable[[Json, Json], str],
    accepts: Callable[[Json], bool] | None = None,
    **query: str,
) -> tuple[Sequence[Json], Json, PageLinks]:
    """Return a page of the records of a list that a search finds, their summaries, and the links.

    Without a search, the REST API pages the list; otherwise the console reads all pages.

    Args:
        path: the path of a list of the REST API that has no search.
        sought: the text of the search; each of its words must be in the name.
        name: returns the name of a record, by the record and the summaries.
        accepts: returns whether a filter accepts a record; ``None`` without a filter.
        query: further parameters of the list.
    """
    if not sought and accepts is None:
        page = visit.read(path, pageSize=PAGE_SIZE, pageNumber=page_number(), **query)
        return page["data"], page["included"], page_links(page["meta"])
    records = read_records(
        lambda cursor, size: visit.read(path, pageSize=size, cursor=cursor, **query),
        visit.most_read,
        lambda item, included: (
            (accepts is None or accepts(item)) and has_words(name(item, included), sought)
        ),
    )
    if records.is_cut:
        visit.cut_total = max(visit.cut_total, records.total)
    items, links = slice_page(records.data)
    return items, records.included, links


def slice_page(records: Sequence[Json]) -> tuple[Sequence[Json], PageLinks]:
    """Return the page of records that the request asks for, and the links to the others."""
    count = max(1, -(-len(records) // PAGE_SIZE))
    number = min(page_number(), count)
    meta = {
        "totalCount": len(records),
        "pageNumber": number,
        "pageCount": count,
        "hasPreviousPage": number > 1,
        "hasNextPage": number < count,
    }
    return records[(number - 1) * PAGE_SIZE : number * PAGE_SIZE], page_links(meta)


def has_words(text: str, sought: str) -> bool:
    """Return whether a text has all words of a search, whatever their case and accents."""
    folded = _folded(text)
    return all(word in folded for word in _folded(sought).split())


def _folded(text: str) -> str:
    """Return a text without accents and case."""
    letters = unicodedata.normalize("NFKD", text)
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).casefold()
