"""Splits a page of a list into the parts of its sections, such as folders and files."""

from collections.abc import Sequence
from typing import NamedTuple

from strongroom.content.nodes.node_filters import ListSection, NodeOrder
from strongroom.foundation.database.paging import Paging


class SectionPart(NamedTuple):
    """The part of a section that a page has; the database reads as many rows as the page size.

    Only the first page of a descending section is read from its end, each other one is read ascending.

    Args:
        offset: the number of nodes before the rows that are read, ascending.
        from_end: whether the rows are read from the end of the section, descending.
        rows: the part of these rows, in the order of the page.
        size: the page size.
    """

    offset: int
    from_end: bool
    rows: slice
    size: int

    @property
    def place(self) -> Paging:
        """The paging of its statement, which depends on whether there are rows before the page."""
        return Paging(2 if self.offset else 1, self.size)

    @classmethod
    def of_page(
        cls, paging: Paging, first: int, length: int, count: int, *, descending: bool
    ) -> "SectionPart":
        """Return the part of some nodes.

        Args:
            first: the position of the first node, in the order of the list.
            length: the number of nodes.
            count: the number of all nodes of the section.
        """
        if not (first and descending):
            return cls(first, descending, slice(length), paging.size)
        # The same rows backwards. There may be fewer than the page size.
        offset = max(count - first - paging.size, 0)
        last = count - first - 1 - offset
        end = last - length
        return cls(offset, False, slice(last, end if end >= 0 else None, -1), paging.size)


SectionParts = Sequence[tuple[ListSection, int, SectionPart]]
"""Sections with the number of their nodes, and the part of each that a page has."""


def section_parts(order: NodeOrder, counts: Sequence[int], paging: Paging) -> SectionParts:
    """Return the sections that a page has nodes of.

    Args:
        counts: the number of nodes of each section of the order.
    """
    parts: list[tuple[ListSection, int, SectionPart]] = []
    passed = 0
    for section, count in zip(order.sections, counts, strict=True):
        first = max(paging.offset - passed, 0)
        length = min(count, paging.offset + paging.size - passed) - first
        if length > 0:
            part = SectionPart.of_page(paging, first, length, count, descending=order.descending)
            parts.append((section, count, part))
        passed += count
    return parts
