"""Responses with files and folders, and the preconditions of changes to them."""

from typing import Final

from strongroom.database.paging import Page
from strongroom.errors import Forbidden, NotFound, PreconditionFailed, RevisionConflict
from strongroom.files.access import NodeView
from strongroom.files.listing import FilePage
from strongroom.files.serializers import Json, node_json, serialize_node
from strongroom.files.service import FileService
from strongroom.http.access import current_identity
from strongroom.http.conditions import Validators, expected_revision, is_unchanged
from strongroom.http.pages import envelope
from strongroom.http.request import get_service
from strongroom.http.response import Response, json_response, not_modified
from strongroom.http.routing import Location
from strongroom.json_text import splice_records

Tagged = tuple[Json, int, dict[str, str]]

NODE_LOCATION: Final = Location("files.get_file", {"tenant_id": "tenantId", "file_id": "id"})
"""``Location`` of a new file or folder."""

CONDITIONAL_ERRORS: Final = (Forbidden, NotFound, RevisionConflict, PreconditionFailed)


def node_response(view: NodeView) -> Response:
    """Return the response with the details of a node; 304 if the client has this revision.

    Raises:
        PreconditionFailed: If-Match does not match.
    """
    current = Validators(str(view.node.revision), None)
    headers = (("ETag", current.etag),)
    if is_unchanged(current):
        return not_modified(headers)
    return json_response(node_json(view), headers=headers)


def page_response(page: FilePage) -> Response:
    """Return the response with a page of files and folders."""
    content = envelope(Page((), page.total, page.paging), included=page.included)
    return json_response(splice_records(content, page.records))


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
