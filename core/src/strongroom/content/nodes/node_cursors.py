"""Cursors of lists of nodes: a page begins after the last node of the page before.

A cursor has the key of that node, not its position, so nodes that are added or removed meanwhile move no
other node to another page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, bindparam, tuple_

from strongroom.content.nodes.models import Node
from strongroom.content.nodes.node_filters import ListSection, NodeOrder, SortKey
from strongroom.foundation.database.keysets import Key
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.errors import ValidationFailed


class NodeCursor(NamedTuple):
    """The last node of a page.

    Args:
        page: the number of the page, from 1.
        order: the order of the list.
        section: the section that the node is in.
        value: the size or the time that the section is sorted by, otherwise 0.
        key: the sort key of the node.
        node_id: the id of the node.
    """

    page: int
    order: NodeOrder
    section: ListSection
    value: int
    key: str
    node_id: str

    @classmethod
    def of_node(cls, page: int, order: NodeOrder, section: ListSection, node: Node) -> "NodeCursor":
        """Return the cursor of a page that ends with a node."""
        values = {SortKey.SIZE: node.size, SortKey.UPDATED_AT: node.updated_at}
        return cls(page, order, section, values.get(section.key, 0), node.sort_key, node.id)

    @property
    def values(self) -> Key:
        """The values that :meth:`of_values` takes."""
        return (*self.order, self.section.label, self.value, self.key, self.node_id)

    @classmethod
    def of_values(cls, page: int, order: NodeOrder, values: Key) -> "NodeCursor":
        """Return the cursor of a page by its values.

        Raises:
            ValidationFailed: it is of a list in another order.
        """
        *of_order, label, value, key, node_id = values
        if of_order != [*order]:
            message = "Not a cursor of a list in this order; start again with an empty cursor."
            raise ValidationFailed.of_field("cursor", "invalid", message)
        return cls(page, order, ListSection.parse(label), value, key, node_id)

    def start(self, columns: Sequence[Column[Any]]) -> dict[str, Any]:
        """Return the parameters of :func:`is_after`."""
        values = {"sort_key": self.key, "id": self.node_id}
        names = [column.name for column in columns]
        return {f"after_{name}": values.get(name.removeprefix("node_"), self.value) for name in names}


@dataclass(frozen=True, slots=True)
class CursorPaging:
    """The requested page of a list by cursor.

    Args:
        size: the number of nodes.
        after: the last node of the page before; ``None``: the first page.
    """

    size: int
    after: NodeCursor | None = None

    @property
    def number(self) -> int:
        """The number of the page, from 1."""
        return self.after.page + 1 if self.after else 1

    def remaining(self, order: NodeOrder) -> Sequence[tuple[ListSection, NodeCursor | None]]:
        """Return the sections that the page may have nodes of, and after which node each begins."""
        if self.after is None:
            return [(section, None) for section in order.sections]
        place = order.sections.index(self.after.section)
        others: Sequence[ListSection] = order.sections[place + 1 :]
        return [(self.after.section, self.after), *((section, None) for section in others)]


def node_paging(paging: Paging, order: NodeOrder) -> Paging | CursorPaging:
    """Return the requested page of a list of nodes in an order, by number or by cursor.

    Raises:
        ValidationFailed: the cursor is not one of a list in this order.
    """
    if paging.after is None:
        return paging
    after = NodeCursor.of_values(paging.number - 1, order, paging.after) if paging.after else None
    return CursorPaging(paging.size, after)


def is_after(
    columns: Sequence[ColumnElement[Any]], names: Sequence[Column[Any]], *, descending: bool
) -> ColumnElement[bool]:
    """Return the condition that the key of a row is after the parameters of :meth:`NodeCursor.start`.

    Args:
        columns: the columns of the key.
        names: the columns that the parameters are named by.
    """
    last = [bindparam(f"after_{name.name}", type_=name.type) for name in names]
    if len(columns) == 1:
        return columns[0] < last[0] if descending else columns[0] > last[0]
    return tuple_(*columns) < tuple_(*last) if descending else tuple_(*columns) > tuple_(*last)
