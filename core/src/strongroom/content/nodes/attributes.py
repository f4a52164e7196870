"""Attributes of nodes: texts that plugins store about files and folders, such as WebDAV's properties.

They are rows of the node, so they follow it wherever it is moved, into the trash and back, and go with
it. A copy of the node gets copies of them.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    String,
    Table,
    Text,
    bindparam,
    delete,
    insert,
    select,
)

from strongroom.foundation.database.metadata import Id, Name, metadata
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import ValidationFailed
from strongroom.web.http.parsing import is_unstorable

MAX_NAME: Final = 255
"""The longest name of an attribute, in characters."""

MAX_ATTRIBUTES: Final = 50
MAX_BYTES: Final = 16 * 1024
"""Number of attributes that a plugin may store about a node, and the size of their names and values in
UTF-8. They do not count towards the quota of the tenant."""

node_attributes: Final = Table(
    "node_attributes",
    metadata,
    Column("node_id", Id, ForeignKey("nodes.id", ondelete="CASCADE"), primary_key=True),
    Column("plugin", String(64), primary_key=True),
    Column("name", Name, primary_key=True),
    Column("value", Text, nullable=False),
)
"""The names of the attributes of each plugin are its own."""

_ROWS: Final = node_attributes.c
_OF_PLUGIN: Final = _ROWS.plugin == bindparam("of_plugin")
_OF_NODES: Final = _ROWS.node_id.in_(bindparam("node_ids", expanding=True))
_FIND: Final = Statement(
    select(_ROWS.node_id, _ROWS.name, _ROWS.value)
    .where(_OF_NODES, _OF_PLUGIN)
    .order_by(_ROWS.node_id, _ROWS.name)
)
_PUT: Final = Statement(
    for_each_dialect(
        node_attributes,
        lambda insert: insert.on_conflict_do_update(
            index_elements=[_ROWS.node_id, _ROWS.plugin, _ROWS.name],
            set_={"value": insert.excluded.value},
        ),
    )
)
_REMOVE: Final = Statement(
    delete(node_attributes).where(
        _ROWS.node_id == bindparam("of_node"), _OF_PLUGIN, _ROWS.name == bindparam("of_name")
    )
)
_WITH_ATTRIBUTES: Final = Statement(select(_ROWS.node_id).distinct().where(_OF_NODES))
_COPY: Final = Statement(
    insert(node_attributes).from_select(
        [*_ROWS.keys()],
        select(bindparam("copy_id", type_=Id), _ROWS.plugin, _ROWS.name, _ROWS.value).where(
            _ROWS.node_id == bindparam("original_id")
        ),
    )
)


def find_attributes(
    connection: Connection, plugin: str, node_ids: Sequence[str]
) -> Mapping[str, Mapping[str, str]]:
    """Return the attributes that a plugin has stored about nodes, by node and name."""
    attributes: dict[str, dict[str, str]] = defaultdict(dict)
    for row in _FIND.all(connection, {"node_ids": node_ids, "of_plugin": plugin}):
        attributes[row.node_id][row.name] = row.value
    return attributes


def change_attributes(
    connection: Connection, plugin: str, node_id: str, changes: Mapping[str, str | None]
) -> None:
    """Set attributes of a node, and remove the ones with the value ``None``.

    The caller's transaction holds the tenant lock, so no other change is in progress.

    Raises:
        ValidationFailed: a name or value cannot be stored, or they are too many or too long.
    """
    for name, value in changes.items():
        _require_storable(name, value or "")
    attributes = {**find_attributes(connection, plugin, [node_id]).get(node_id, {}), **changes}
    values = {name: value for name, value in attributes.items() if value is not None}
    size = sum(len(name.encode()) + len(value.encode()) for name, value in values.items())
    if len(values) > MAX_ATTRIBUTES or size > MAX_BYTES:
        raise _refusal(f"A file has at most {MAX_ATTRIBUTES} attributes with {MAX_BYTES} bytes.")
    row = {"node_id": node_id, "plugin": plugin}
    put = [{**row, "name": name, "value": value} for name, value in changes.items() if value is not None]
    if put:
        _PUT.execute(connection, put)
    of_node = {"of_node": node_id, "of_plugin": plugin}
    removed = [{**of_node, "of_name": name} for name, value in changes.items() if value is None]
    if removed:
        _REMOVE.execute(connection, removed)


def copy_attributes(connection: Connection, copies: Mapping[str, str]) -> None:
    """Copy the attributes of all plugins.

    Args:
        connection: the caller's transaction.
        copies: the ids of the copies of nodes, by the ids of the originals.
    """
    originals = _WITH_ATTRIBUTES.scalars(connection, {"node_ids": [*copies]})
    if originals:
        pairs = [{"original_id": original, "copy_id": copies[original]} for original in originals]
        _COPY.execute(connection, pairs)


def _require_storable(name: str, value: str) -> None:
    if not 1 <= len(name) <= MAX_NAME:
        raise _refusal(f"Must have 1 to {MAX_NAME} characters.")
    if is_unstorable(name) or is_unstorable(value):
        raise _refusal("Must not contain NUL or an unpaired surrogate.")


def _refusal(message: str) -> ValidationFailed:
    return ValidationFailed.of_field("changes", "invalid", message)
