"""Cursors of lists of nodes: a page begins after the last node of the page before.

A cursor has the key of that node, not its position, so nodes that are added or removed meanwhile move no
other node to another page.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from sqlalchemy import Column, ColumnElement, bindparam, tuple_

from strongroom.content.nodes.models import Node
from strongroom.content.nodes.node_filters import ListSection, NodeOrder, SortKey
from strongroom.foundation.collation import MAX_SORT_KEY
from strongroom.foundation.errors import ValidationFailed

MAX_CURSOR: Final = 8 * MAX_SORT_KEY
"""Number of characters of the longest cursor."""

_MAX_INTEGER: Final = 2**63 - 1


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

    def __str__(self) -> str:
        values = (self.page, self.order, self.section.label, self.value, self.key, self.node_id)
        text = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
        return urlsafe_b64encode(text.encode()).decode().rstrip("=")

    @classmethod
    def parse(cls, text: str, order: NodeOrder) -> "NodeCursor":
        """Return the cursor of a text.

        Raises:
            ValidationFailed: the text is not a cursor of a list in this order.
        """
        try:
            page, of_order, label, value, key, node_id = json.loads(
                urlsafe_b64decode(text + "=" * (-len(text) % 4))
            )
            cursor = cls(int(page), order, ListSection.parse(label), int(value), str(key), str(node_id))
            is_valid = [*order] == of_order and cursor._is_valid()
        except (ValueError, TypeError, AttributeError, RecursionError):
            is_valid = False
        if not is_valid:
            message = "Not a cursor of a list in this order; start again with an empty cursor."
            raise ValidationFailed.of_field("cursor", "invalid", message)
        return cursor

    def _is_valid(self) -> bool:
        texts = f"{self.key}{self.node_id}"
        # A text with half of a surrogate pair cannot be encoded, which is a ValueError.
        is_storable = "\0" not in texts and bool(texts.encode())
        numbers = (self.page, self.value)
        is_bounded = len(self.key) <= MAX_SORT_KEY and all(0 <= each <= _MAX_INTEGER for each in numbers)
        return is_storable and is_bounded and self.section in self.order.sections

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
