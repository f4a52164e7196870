"""Endpoints of the trash."""

from functools import partial

from strongroom.content.files.schemas import NodeSchema
from strongroom.content.files.serializers import Json, serialize_node
from strongroom.content.nodes import operations
from strongroom.content.nodes.destinations import OnConflict
from strongroom.content.nodes.retention_models import RetentionSettings
from strongroom.content.nodes.trash import TrashedNode
from strongroom.content.tenants.schemas import OverrideQuery
from strongroom.content.tenants.views import requested_override
from strongroom.extensions.trash.removal import TrashRemoval
from strongroom.extensions.trash.schemas import RestorationSchema, TrashedFileSchema
from strongroom.extensions.trash.service import RestoreRequest, TrashService
from strongroom.foundation import errors
from strongroom.identity.accounts.views import PROOF_ERRORS, require_fresh_proof
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import PROOF_PARAMETERS
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "trash",
    url_prefix="/api/v1/tenants/<tenant_id>/trash",
    description="Deleted files and folders.",
)


@blueprint.operation(
    "GET",
    "",
    access=Access.USER,
    rule=operations.LIST_TRASH,
    query=PagingQuery,
    returns=collection_schema(TrashedFileSchema),
    compress=True,
    errors=(errors.Forbidden,),
)
def list_trash(tenant_id: str, query: dict[str, int]) -> Json:
    """List the files and folders that the caller deleted, newest first.

    An administrator of the tenant sees all users' entries.
    """
    service = get_service(TrashService)
    page, included, settings = service.page(current_identity(), tenant_id, paging(query))
    return envelope(page, partial(_serialize, settings), included)


@blueprint.operation(
    "POST",
    "/<file_id>/restore",
    access=Access.USER,
    rule=operations.RESTORE,
    body=RestorationSchema,
    returns=NodeSchema,
    errors=(
        errors.Forbidden,
        errors.NotFound,
        errors.ParentGone,
        errors.NotAFolder,
        errors.NameConflict,
        errors.FileLocked,
        errors.RevisionConflict,
        errors.FileHeld,
    ),
)
def restore_from_trash(tenant_id: str, file_id: str, body: Json) -> Json:
    """Restore a file, or a folder with its content, with its id and its grants.

    It returns to the folder that it was in, or to the one that is named.
    """
    request = RestoreRequest(
        OnConflict(body["onConflict"]),
        to_former_parent="parentId" not in body,
        parent_id=body.get("parentId"),
    )
    service = get_service(TrashService)
    return serialize_node(service.restore(current_identity(), tenant_id, file_id, request))


@blueprint.operation(
    "DELETE",
    "/<file_id>",
    access=Access.USER,
    rule=operations.PURGE_TRASH,
    query=OverrideQuery,
    returns=DoneSchema,
    errors=(
        errors.Forbidden,
        errors.NotFound,
        errors.FileHeld,
        errors.FileRetained,
        *PROOF_ERRORS,
    ),
    document={"parameters": PROOF_PARAMETERS},
)
def delete_from_trash(tenant_id: str, file_id: str, query: Json) -> dict[str, bool]:
    """Remove a file or folder permanently.

    Requires a fresh proof: a code for `unbind`, the current password, or a login within the last 10
    minutes.
    """
    require_fresh_proof()
    override = requested_override(query)
    get_service(TrashRemoval).delete(current_identity(), tenant_id, file_id, override)
    return DONE


@blueprint.operation(
    "DELETE",
    "",
    access=Access.USER,
    rule=operations.PURGE_TRASH,
    returns=DoneSchema,
    errors=(errors.Forbidden, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def empty_trash(tenant_id: str) -> dict[str, bool]:
    """Permanently remove all entries of the trash that the caller sees, except held and retained ones.

    Requires a fresh proof, as the removal of a single file.
    """
    require_fresh_proof()
    get_service(TrashRemoval).empty(current_identity(), tenant_id)
    return DONE


def _serialize(settings: RetentionSettings, trashed: TrashedNode) -> Json:
    entry, node = trashed
    return {
        "id": node.id,
        "type": node.type,
        "name": node.name,
        "parentId": None if entry.parent_id == entry.tenant_id else entry.parent_id,
        "tenantId": entry.tenant_id,
        "size": entry.size,
        "contentType": node.content_type,
        "owner": reference(node.owner_id),
        "trashedBy": reference(entry.trashed_by),
        "trashedAt": entry.trashed_at,
        "purgeAt": settings.purge_at(entry.trashed_at),
    }
