"""Requests for pages of files and folders, and the pages."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection

from strongroom.content.files.child_pages import Columns, PageQuery
from strongroom.content.nodes.models import Permission
from strongroom.content.nodes.node_cursors import CursorPaging
from strongroom.content.nodes.node_filters import ListSection, NodeOrder
from strongroom.content.nodes.node_selection import NodeSelection
from strongroom.foundation.database.keysets import Key
from strongroom.foundation.database.paging import Page, Paging

AnyPaging = Paging | CursorPaging


class FilePage(NamedTuple):
    """A page of files and folders.

    Args:
        total: the number of nodes in the whole list.
        records: each node as JSON text.
        included: the summaries of the nodes' owners, sorted by id.
        following: the key of the last node of a page by cursor, if there is a next page.
    """

    total: int
    paging: AnyPaging
    records: Sequence[str] = ()
    included: Sequence[dict[str, str]] = ()
    following: Key | None = None

    @property
    def page(self) -> Page[str]:
        """The page without its records, for the envelope of a response."""
        if isinstance(self.paging, Paging):
            return Page((), self.total, self.paging, self.following)
        return Page((), self.total, Paging(self.paging.number, self.paging.size, ()), self.following)


class ListRequest(NamedTuple):
    """A request for a page of a list.

    Args:
        parameters: the statements' parameters: the list's owner, the tenant, the folder and the time.
        selection: a filter and an order; ``None``: all nodes by name.
        levels: the least and the highest permission on the nodes.
        total: the number of nodes in the list, as soon as it is known.
    """

    connection: Connection
    parameters: Mapping[str, Any]
    paging: AnyPaging
    selection: NodeSelection | None
    levels: tuple[Permission, Permission] = (Permission.NONE, Permission.NONE)
    total: int = 0

    @property
    def order(self) -> NodeOrder:
        """The order of the list."""
        return NodeOrder() if self.selection is None else self.selection.order

    def page(
        self,
        records: Sequence[str] = (),
        owners: Sequence[dict[str, str]] = (),
        following: Key | None = None,
    ) -> FilePage:
        """Return the page with some records."""
        return FilePage(self.total, self.paging, records, owners, following)


class CursorPage(NamedTuple):
    """A page by cursor and its queries.

    Args:
        get_columns: returns the columns that a section is sorted by.
        query_of: returns the query for the nodes of a section after a cursor.
    """

    paging: CursorPaging
    get_columns: Callable[[ListSection], Columns]
    query_of: Callable[..., PageQuery]
