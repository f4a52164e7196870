"""Responses with files and folders, and the preconditions of changes to them."""

import json
from collections.abc import Sequence
from typing import Final

from strongroom.content.files.listing import FilePage
from strongroom.content.files.node_paths import NodePaths
from strongroom.content.files.serializers import Json, node_json, serialize_node
from strongroom.content.files.service import FileService
from strongroom.content.nodes.access import NodeView
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database.paging import Page
from strongroom.foundation.errors import Forbidden, NotFound, PreconditionFailed, RevisionConflict
from strongroom.foundation.json_text import encode_json, splice_records
from strongroom.web.http.access import current_identity
from strongroom.web.http.conditions import Validators, expected_revision, is_unchanged
from strongroom.web.http.locations import Location
from strongroom.web.http.pages import envelope
from strongroom.web.http.request import get_service
from strongroom.web.http.response import Response, json_response, not_modified

Tagged = tuple[Json, int, dict[str, str]]

NODE_LOCATION: Final = Location("files.get_file", {"tenant_id": "tenantId", "file_id": "id"})
"""``Location`` of a new file or folder."""

CONDITIONAL_ERRORS: Final = (Forbidden, NotFound, RevisionConflict, PreconditionFailed)


def node_details(view: NodeView, query: Json, caller: AnyCaller) -> Response:
    """Return the response with the details of a node; 304 if the client has this revision.

    With its path it has no entity tag, because a folder above may be renamed without a new revision of
    the node.

    Raises:
        PreconditionFailed: If-Match does not match.
    """
    if query["include"]:
        tenant_id, node_id = view.node.tenant_id, view.node.id
        paths = get_service(NodePaths).of(caller, tenant_id, [node_id])
        return json_response(_with_path(node_json(view), paths[node_id]))
    current = Validators(str(view.node.revision), None)
    headers = (("ETag", current.etag),)
    if is_unchanged(current):
        return not_modified(headers)
    return json_response(node_json(view), headers=headers)


def listed_nodes(page: FilePage, query: Json, caller: AnyCaller, tenant_id: str) -> Response:
    """Return the response with a page of files and folders, with their paths if the query demands."""
    records = page.records
    if query["include"]:
        records = _with_paths(records, caller, tenant_id)
    content = envelope(Page((), page.total, page.paging), included=page.included)
    return json_response(splice_records(content, records))


def _with_paths(records: Sequence[str], caller: AnyCaller, tenant_id: str) -> list[str]:
    ids = [json.loads(record)["id"] for record in records]
    paths = get_service(NodePaths).of(caller, tenant_id, ids)
    return [_with_path(record, paths[id_]) for record, id_ in zip(records, ids, strict=True)]


def _with_path(record: str, path: Sequence[str]) -> str:
    """Return the JSON text of a node with its path as the last member."""
    return f'{record[:-1]},"path":{encode_json(path)}}}'


def tagged(view: NodeView, status: int = 200) -> Tagged:
    """Return the response with a node, its revision as the entity tag."""
    return serialize_node(view), status, {"ETag": f'"{view.node.revision}"'}


def wanted_revision(tenant_id: str, file_id: str, revision: int | None = None) -> int | None:
    """Return the expected revision of a change, from the body or from If-Match.

    If-Match accepts the entity tag of a download, too.

    Raises:
        PreconditionFailed: If-Match does not match.
    """

    def current() -> tuple[int, tuple[str]]:
        node = get_service(FileService).get(current_identity(), tenant_id, file_id).node
        return node.revision, (node.checksum or "",)

    return expected_revision(revision, current)
