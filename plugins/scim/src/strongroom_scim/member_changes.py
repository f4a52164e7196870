"""PATCH requests that only add and remove members of a group.

Directories send most changes of groups so, one member at a time. The library would load all members of
the group for each, thousands of them.
"""

import re
from typing import Any, Final, NamedTuple

from scim2_models import PatchOp, PatchOperation

_ONE: Final = re.compile(r'members\[value eq "([^"\\]+)"\]', re.IGNORECASE)
_MEMBERS: Final = "members"
_PLAIN: Final = frozenset({"value", "$ref", "type", "display"})


class MemberChanges(NamedTuple):
    """The ids of the users that join a group, and of those that leave it."""

    added: frozenset[str]
    removed: frozenset[str]


def read_member_changes(patch: "PatchOp[Any]") -> MemberChanges | None:
    """Return what a PATCH changes; ``None``: it changes something else as well."""
    is_member: dict[str, bool] = {}
    for operation in patch.operations or ():
        ids = _read_ids(operation)
        if ids is None:
            return None
        is_member.update(dict.fromkeys(ids, operation.op is PatchOperation.Op.add))
    if not is_member:
        return None
    added = frozenset(user_id for user_id, stays in is_member.items() if stays)
    return MemberChanges(added, frozenset(is_member) - added)


def _read_ids(operation: "PatchOperation[Any]") -> list[str] | None:
    """Return the ids that an operation adds or removes; ``None``: it is another operation."""
    path, value = str(operation.path or ""), operation.value
    if operation.op not in (PatchOperation.Op.add, PatchOperation.Op.remove):
        return None
    if operation.op is PatchOperation.Op.remove and value is None:
        one = _ONE.fullmatch(path)
        return None if one is None else [one[1]]
    if path.lower() != _MEMBERS:
        return None
    ids = [_read_id(item) for item in (value if isinstance(value, list) else [value])]
    # Without an id, a removal would be one of all members, or nothing.
    return None if not ids or None in ids else [user_id for user_id in ids if user_id is not None]


def _read_id(item: Any) -> str | None:
    """Return the id of a member that is a user."""
    if not isinstance(item, dict) or not item.keys() <= _PLAIN:
        return None
    user_id = item.get("value")
    is_user = item.get("type") in (None, "User")
    return user_id if is_user and isinstance(user_id, str) and user_id else None
