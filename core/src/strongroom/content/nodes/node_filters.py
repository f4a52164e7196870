"""Filters and sort orders of lists and searches of nodes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import cache
from typing import Any, Final, NamedTuple, Protocol

from sqlalchemy import BigInteger, ColumnElement, bindparam, or_

from strongroom.content.nodes.models import Node, NodeType, nodes
from strongroom.foundation.database.metadata import Id

_ESCAPE: Final = "\\"
_WILDCARDS: Final = str.maketrans({char: _ESCAPE + char for char in f"%_{_ESCAPE}"})


@dataclass(frozen=True, slots=True)
class NodeFilter:
    """The wanted nodes of a list or a search; ``None`` is any.

    Args:
        type: ``file`` or ``folder``.
        content_type: a media type without parameters, or all of a kind, such as ``image/*``.
        modified_after: the nodes changed later, in milliseconds since the Unix epoch.
        min_size: the least size in bytes.
    """

    type: str | None = None
    content_type: str | None = None
    owner_id: str | None = None
    modified_after: int | None = None
    min_size: int | None = None

    @property
    def used(self) -> frozenset[str]:
        """The names of the criteria."""
        return frozenset(field.name for field in fields(self) if getattr(self, field.name) is not None)

    def matches(self, node: Node) -> bool:
        """Return whether a node meets the criteria."""
        kind = (node.content_type or "").partition(";")[0]
        prefix = (self.content_type or "").removesuffix("*")
        return (
            self.type in (None, node.type)
            and self.owner_id in (None, node.owner_id)
            and (kind.startswith(prefix) if prefix.endswith("/") else prefix in ("", kind))
            and node.updated_at > (self.modified_after or 0)
            and node.size >= (self.min_size or 0)
        )

    @property
    def parameters(self) -> Mapping[str, Any]:
        """The parameters of :func:`conditions`."""
        values = {f"wanted_{name}": getattr(self, name) for name in self.used}
        if self.content_type is not None:
            kind, _, subtype = self.content_type.translate(_WILDCARDS).partition("/")
            essence = "%" if subtype == "*" else subtype
            values |= {
                "wanted_content_type": f"{kind}/{essence}",
                # Stored media types may have parameters, such as the charset.
                "wanted_with_parameters": f"{kind}/{essence};%",
            }
        return values


def _of_content_type() -> ColumnElement[bool]:
    names = ("wanted_content_type", "wanted_with_parameters")
    return or_(*(nodes.c.content_type.like(bindparam(name), escape=_ESCAPE) for name in names))


_CONDITIONS: Final[Mapping[str, Callable[[], ColumnElement[bool]]]] = {
    "type": lambda: nodes.c.type == bindparam("wanted_type"),
    "content_type": _of_content_type,
    "owner_id": lambda: nodes.c.owner_id == bindparam("wanted_owner_id", type_=Id),
    "modified_after": lambda: nodes.c.updated_at > bindparam("wanted_modified_after", type_=BigInteger),
    "min_size": lambda: nodes.c.size >= bindparam("wanted_min_size", type_=BigInteger),
}


def conditions(used: frozenset[str]) -> list[ColumnElement[bool]]:
    """Return the conditions of :attr:`NodeFilter.used` criteria."""
    return [make() for name, make in _CONDITIONS.items() if name in used]


class SortKey(StrEnum):
    """The property that nodes are sorted by; nodes with the same value are sorted by name.

    Names are in the order of :mod:`strongroom.foundation.collation`.
    """

    NAME = "name"
    UPDATED_AT = "updatedAt"
    SIZE = "size"
    TYPE = "type"


class ListSection(NamedTuple):
    """Nodes that are next to each other in a list: all of them, its folders or its files.

    Args:
        type: the type of the nodes; ``None``: any.
        key: the property that they are sorted by, which is not the type.
    """

    type: NodeType | None = None
    key: SortKey = SortKey.NAME

    @property
    def label(self) -> str:
        """The text that stands for it in the database."""
        return f"{self.type}/{self.key}" if self.type else self.key.value

    @classmethod
    def parse(cls, label: str) -> "ListSection":
        """Return the section of a label."""
        kind, _, key = label.rpartition("/")
        return cls(NodeType(kind) if kind else None, SortKey(key))


class NodeOrder(NamedTuple):
    """A sort order.

    Args:
        folders_first: whether all folders are before all files, also in a descending order.
    """

    key: SortKey = SortKey.NAME
    descending: bool = False
    folders_first: bool = False

    @classmethod
    def parse(cls, sort: str, *, folders_first: bool = False) -> "NodeOrder":
        """Return the order of a parameter such as ``-size``."""
        return cls(SortKey(sort.removeprefix("-")), sort.startswith("-"), folders_first)

    @property
    def sections(self) -> "Sequence[ListSection]":
        """The sections of a list in this order. Each is ascending or descending as the whole list."""
        return _sections(self)

    def sort_value(self, node: "SortedNode") -> tuple[Any, ...]:
        """Return what a list in memory is sorted by, ascending."""
        values = {
            SortKey.NAME: (),
            SortKey.UPDATED_AT: (node.updated_at,),
            SortKey.SIZE: (node.size,),
            SortKey.TYPE: (node.type,),
        }
        return (*values[self.key], node.sort_key, node.id)


class SortedNode(Protocol):
    """The values of a node that lists are sorted by."""

    @property
    def id(self) -> str: ...
    @property
    def type(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def updated_at(self) -> int: ...
    @property
    def sort_key(self) -> str: ...


@cache
def _sections(order: NodeOrder) -> Sequence[ListSection]:
    is_by_type = order.key is SortKey.TYPE
    if not (order.folders_first or is_by_type):
        return (ListSection(None, order.key),)
    key = SortKey.NAME if is_by_type else order.key
    # All folders have the size 0.
    folders = ListSection(NodeType.FOLDER, SortKey.NAME if key is SortKey.SIZE else key)
    sections = (folders, ListSection(NodeType.FILE, key))
    return sections if order.folders_first or order.descending else sections[::-1]


SORTS: Final = tuple(f"{sign}{key}" for key in SortKey for sign in ("", "-"))
"""All values of the parameter ``sort``."""
