"""JSON representation of files and folders, with the entity tags for conditional changes."""

from typing import Any, Final

from flask import request

from strongroom.errors import Forbidden, NotFound, PreconditionFailed, RevisionConflict
from strongroom.files.access import NodeView
from strongroom.files.service import FileService
from strongroom.web.access import current_identity
from strongroom.web.conditions import require_match
from strongroom.web.pages import reference
from strongroom.web.routing import Location
from strongroom.web.services import get_service

Json = dict[str, Any]
Tagged = tuple[Json, int, dict[str, str]]

NODE_LOCATION: Final = Location("files.get_file", {"tenant_id": "tenantId", "file_id": "id"})
"""``Location`` of a new file or folder."""

CONDITIONAL_ERRORS: Final = (Forbidden, NotFound, RevisionConflict, PreconditionFailed)


def serialize_node(view: NodeView) -> Json:
    """Return the JSON representation of a node."""
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
        "owner": reference(node.owner_id),
        "permission": view.permission.name.lower(),
        "revision": node.revision,
        "createdAt": node.created_at,
        "updatedAt": node.updated_at,
    }


def tagged(view: NodeView, status: int = 200) -> Tagged:
    """Return the response with a node, its revision as the entity tag."""
    return serialize_node(view), status, {"ETag": f'"{view.node.revision}"'}


def wanted_revision(tenant_id: str, file_id: str, revision: int | None = None) -> int | None:
    """Return the expected revision of a change, from the body or from If-Match.

    If-Match accepts the entity tag of a download, too.

    Raises:
        PreconditionFailed: If-Match does not match.
    """
    if "If-Match" not in request.headers:
        return revision
    node = get_service(FileService).get(current_identity(), tenant_id, file_id).node
    # Details have the revision as their entity tag, downloads the checksum.
    require_match({str(node.revision), node.checksum or ""})
    return node.revision if revision is None else revision
