"""Implements ``host.lists``."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from strongroom.assembly.plugin_host.caller import result_page
from strongroom.foundation.database.paging import Page, make_page
from strongroom.plugin_api.paging import ListsAPI, ResultPage
from strongroom.web.http.cursors import refused_cursor
from strongroom.web.http.paging import envelope, paging

T = TypeVar("T")


class HostLists(ListsAPI):
    """Implements ``host.lists``."""

    def page(
        self,
        records: Sequence[T],
        query: Mapping[str, Any],
        key: Callable[[T], tuple[Any, ...]],
        *,
        descending: bool = False,
    ) -> ResultPage[T]:
        page = make_page(records, paging(query), key, descending=descending)
        return result_page(page)

    def collection(self, page: ResultPage[Any], query: Mapping[str, Any]) -> Any:
        requested = paging(query)
        if requested.after is not None and not page.is_by_cursor:
            raise refused_cursor()
        return envelope(Page(list(page.items), page.total, requested, page.following))
