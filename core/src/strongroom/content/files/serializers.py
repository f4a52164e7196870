"""Serializes files and folders as JSON."""

from collections.abc import Iterable
from typing import Any, Final

from strongroom.clock import iso_format
from strongroom.content.nodes.access import NodeView
from strongroom.content.scanning.states import SKIPPED
from strongroom.foundation.cache import Cache
from strongroom.foundation.json_text import encode_json

Json = dict[str, Any]

CACHED_NODES: Final = 4096
"""Number of nodes cached as JSON, about 500 bytes each."""

_START: Final = '{"id":"'
_cache: Final[Cache[tuple[str, int, int], str]] = Cache(CACHED_NODES)


def serialize_node(view: NodeView) -> Json:
    """Return the JSON representation of a node; times are in milliseconds since the Unix epoch."""
    node = view.node
    return {
        "id": node.id,
        "type": node.type,
        "name": node.name,
        "parentId": None if node.parent_id == node.tenant_id else node.parent_id,
        "tenantId": node.tenant_id,
        "size": node.size,
        "contentType": node.content_type,
        "checksum": f"sha256:{node.checksum}" if node.checksum else None,
        "owner": {"$ref": node.owner_id},
        "permission": view.permission.name.lower(),
        "revision": node.revision,
        "createdAt": node.created_at,
        "updatedAt": node.updated_at,
        "scan": None if node.blob_key is None else node.scan or SKIPPED,
    }


def ids_of_json(records: Iterable[str]) -> list[str]:
    """Return the ids of nodes, the first member of each JSON text."""
    start = len(_START)
    return [record[start : record.index('"', start)] for record in records]


def cached_nodes_json(keys: Iterable[tuple[str, int, int]]) -> list[str | None]:
    """Return the JSON texts of nodes; ``None`` for those that are not cached.

    Args:
        keys: the id, the revision and the permission of each node; the text depends on them alone.
    """
    return [*map(_cache.get, keys)]


def node_json(view: NodeView) -> str:
    """Return a node as JSON text, with times in ISO 8601; caches it."""
    key = (view.node.id, view.node.revision, view.permission)
    text = _cache.get(key)
    if text is None:
        serialized = serialize_node(view)
        serialized["createdAt"] = iso_format(serialized["createdAt"])
        serialized["updatedAt"] = iso_format(serialized["updatedAt"])
        text = encode_json(serialized)
        _cache.put(key, text)
    return text
