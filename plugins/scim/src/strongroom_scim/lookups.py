"""What a filter says of values that the server finds by an index (RFC 7644, section 3.4.2.2)."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from scim2_models import ScimFilter
from scim2_models.path import (
    CompareOperator,
    Comparison,
    FilterNode,
    LogicalExpr,
    LogicalOperator,
    ValuePath,
)

_USER_KEYS: Final = {
    "id": "user_id",
    "username": "login_name",
    "externalid": "external_id",
    "emails": "email",
    "emails.value": "email",
}
_GROUP_KEYS: Final = {
    "id": "group_id",
    "displayname": "name",
    "externalid": "external_id",
    "members": "member_id",
    "members.value": "member_id",
}


class Lookup(NamedTuple):
    """The values of a filter.

    Args:
        values: the arguments of the server's lists.
        is_exact: whether the lists decide the filter alone; otherwise each resource must be matched.
    """

    values: Mapping[str, str]
    is_exact: bool


def read_user_filter(condition: "ScimFilter[Any] | None") -> Lookup:
    """Return what a filter says of users.

    An address is the one that the server uses: the primary one, else the one of the type ``work``.
    """
    return _read(condition, _USER_KEYS)


def read_group_filter(condition: "ScimFilter[Any] | None") -> Lookup:
    """Return what a filter says of groups."""
    return _read(condition, _GROUP_KEYS)


def _read(condition: "ScimFilter[Any] | None", keys: Mapping[str, str]) -> Lookup:
    if condition is None:
        return Lookup({}, is_exact=True)
    values: dict[str, str] = {}
    is_exact = True
    for key, value in _equalities(condition.ast):
        name = keys.get(key)
        if name is None or values.setdefault(name, value) != value:
            is_exact = False
    # An external id is compared exactly by both; the case of others does not matter to both.
    return Lookup(values, is_exact and "email" not in values)


def _equalities(node: FilterNode, head: str = "") -> Iterator[tuple[str, str]]:
    """Yield the names of attributes with the text they are equal to; an empty name for all else."""
    if isinstance(node, LogicalExpr) and node.op is LogicalOperator.and_:
        for term in node.terms:
            yield from _equalities(term, head)
    elif isinstance(node, ValuePath) and not head and node.attr_path.uri is None:
        yield "", ""
        yield from _equalities(node.val_filter, f"{node.attr_path}.".lower())
    elif (
        isinstance(node, Comparison)
        and node.op is CompareOperator.eq
        and isinstance(node.value, str)
        and node.attr_path.uri is None
    ):
        yield f"{head}{node.attr_path}".lower(), node.value
    else:
        yield "", ""
