"""Responses with files and folders."""

import json
from collections.abc import Sequence
from typing import Final

from strongroom.content.files.list_requests import FilePage
from strongroom.content.files.node_paths import NodePaths
from strongroom.content.files.serializers import Json, node_json
from strongroom.content.nodes.access import NodeView
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.errors import Forbidden, NotFound, RevisionConflict
from strongroom.foundation.json_text import encode_json, splice_records
from strongroom.web.http.locations import Location
from strongroom.web.http.paging import envelope
from strongroom.web.http.representations import JsonRepresentation
from strongroom.web.http.request import get_service
from strongroom.web.http.response import Response, json_response

NODE_LOCATION: Final = Location("files.get_file", {"tenant_id": "tenantId", "file_id": "id"})
"""``Location`` of a new file or folder."""

CHANGE_ERRORS: Final = (Forbidden, NotFound, RevisionConflict)


def node_details(view: NodeView, query: Json, caller: AnyCaller) -> JsonRepresentation:
    """Return the details of a node. If-Match accepts the entity tag of its content, too."""
    node, text = view.node, node_json(view)
    if query["include"]:
        text = _with_path(text, get_service(NodePaths).find(caller, node.tenant_id, [node.id])[node.id])
    return JsonRepresentation(text, node.revision, (node.checksum,) if node.checksum else ())


def listed_nodes(page: FilePage, query: Json, caller: AnyCaller, tenant_id: str) -> Response:
    """Return the response with a page of files and folders, with their paths if the query demands."""
    records = page.records
    if query["include"]:
        records = _with_paths(records, caller, tenant_id)
    content = envelope(page.page, included=page.included)
    return json_response(splice_records(content, records))


def _with_paths(records: Sequence[str], caller: AnyCaller, tenant_id: str) -> list[str]:
    ids = [json.loads(record)["id"] for record in records]
    paths = get_service(NodePaths).find(caller, tenant_id, ids)
    return [_with_path(record, paths[id_]) for record, id_ in zip(records, ids, strict=True)]


def _with_path(record: str, path: Sequence[str]) -> str:
    """Return the JSON text of a node with its path as the last member."""
    return f'{record[:-1]},"path":{encode_json(path)}}}'
