"""Responses with files and folders."""

from collections.abc import Sequence
from typing import Final

from strongroom.content.files.list_requests import FilePage
from strongroom.content.files.node_marks import HOLDS, LOCKS, NodeMarks
from strongroom.content.files.node_paths import NodePaths
from strongroom.content.files.serializers import Json, cached_nodes_json, ids_of_json, node_json
from strongroom.content.nodes.access import NodeView
from strongroom.content.nodes.models import Node, NodeVersion, Permission
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.errors import FileLocked, Forbidden, NotFound, RevisionConflict
from strongroom.foundation.json_text import encode_json, splice_records
from strongroom.plugin_api.web import Location
from strongroom.web.http.access import current_identity
from strongroom.web.http.paging import envelope
from strongroom.web.http.representations import JsonRepresentation
from strongroom.web.http.request import get_service
from strongroom.web.http.response import Response, json_response

NODE_LOCATION: Final = Location("files.get_file", {"tenant_id": "tenantId", "file_id": "id"})
"""``Location`` of a new file or folder."""

CHANGE_ERRORS: Final = (Forbidden, NotFound, RevisionConflict, FileLocked)


def node_details(view: NodeView, query: Json, path: Sequence[str] = ()) -> JsonRepresentation:
    """Return the details of a node.

    Args:
        path: the names on its path, if the query demands them.
    """
    node, text, included = view.node, node_json(view), query["include"] or ""
    if "path" in included:
        [text] = _extended([text], "path", [path])
    [text] = _with_marks([text], node.tenant_id, included)
    return _represented(text, node)


def cached_details(version: NodeVersion, permission: Permission) -> JsonRepresentation | None:
    """Return the details of a node without what a query demands, ``None`` if they are not cached."""
    [text] = cached_nodes_json([(version.id, version.revision, permission)])
    return None if text is None else _represented(text, version)


def _represented(text: str, node: Node | NodeVersion) -> JsonRepresentation:
    """Return the details of a node. If-Match accepts the entity tag of its content, too."""
    return JsonRepresentation(text, node.revision, (node.checksum,) if node.checksum else ())


def listed_nodes(page: FilePage, query: Json, caller: AnyCaller, tenant_id: str) -> Response:
    """Return the response with a page of files and folders, and what else the query demands of them."""
    records, included = page.records, query["include"] or ""
    if "path" in included:
        records = _with_paths(records, caller, tenant_id)
    records = _with_marks(records, tenant_id, included)
    content = envelope(page.page, included=page.included)
    return json_response(splice_records(content, records))


def _with_paths(records: Sequence[str], caller: AnyCaller, tenant_id: str) -> list[str]:
    ids = ids_of_json(records)
    paths = get_service(NodePaths).find(caller, tenant_id, ids)
    return _extended(records, "path", [paths[node_id] for node_id in ids])


def _with_marks(records: Sequence[str], tenant_id: str, included: str) -> Sequence[str]:
    """Return the JSON texts of nodes with their holds and locks, if the query demands them."""
    marks = [mark for mark in (HOLDS, LOCKS) if mark in included]
    if not marks:
        return records
    ids = ids_of_json(records)
    held, locked = get_service(NodeMarks).find(current_identity(), tenant_id, ids, marks)
    if HOLDS in marks:
        is_held = [None if held is None else node_id in held for node_id in ids]
        records = _extended(records, "isHeld", is_held)
    if LOCKS in marks:
        records = _extended(records, "isLocked", [node_id in locked for node_id in ids])
    return records


def _extended(records: Sequence[str], name: str, values: Sequence[object]) -> list[str]:
    """Return the JSON texts of nodes with another member, the last one of each."""
    return [
        f'{record[:-1]},"{name}":{encode_json(value)}}}'
        for record, value in zip(records, values, strict=True)
    ]
