"""Filters and sort orders of lists and searches of nodes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import BigInteger, ColumnElement, bindparam, or_

from strongroom.content.nodes.models import Node, nodes
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
    """The property that nodes are sorted by; nodes with the same value are sorted by name."""

    NAME = "name"
    UPDATED_AT = "updatedAt"
    SIZE = "size"
    TYPE = "type"


class NodeOrder(NamedTuple):
    """A sort order."""

    key: SortKey = SortKey.NAME
    descending: bool = False

    @classmethod
    def parse(cls, sort: str) -> "NodeOrder":
        """Return the order of a parameter such as ``-size``."""
        return cls(SortKey(sort.removeprefix("-")), sort.startswith("-"))


SORTS: Final = tuple(f"{sign}{key}" for key in SortKey for sign in ("", "-"))
"""All values of the parameter ``sort``."""
