"""The REST API of the quarantine, for administrators."""

from typing import Any

from strongroom.content.scanning import operations
from strongroom.content.scanning.quarantine import QuarantinedFile, QuarantineService
from strongroom.content.scanning.schemas import QuarantinedFileSchema, ReleaseSchema
from strongroom.foundation import errors
from strongroom.identity.accounts.views import PROOF_ERRORS, require_fresh_proof
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import PROOF_PARAMETERS
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.paging import envelope, paging
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "quarantine",
    url_prefix="/api/v1/quarantine",
    description="Infected and rejected files, for administrators.",
    parameters={
        "scan_id": "`id` of the entry in quarantine; not the id of the file",
    },
)


@blueprint.operation(
    "GET",
    "",
    access=Access.ADMIN,
    rule=operations.LIST_QUARANTINE,
    query=PagingQuery,
    returns=collection_schema(QuarantinedFileSchema),
    compress=True,
    errors=(errors.Forbidden,),
)
def list_quarantine(query: dict[str, int]) -> dict[str, Any]:
    """List the files in quarantine, newest first.

    Only administrators of the server may. Files whose content is `infected` or `rejected` are listed,
    until they are released or deleted.
    """
    return envelope(get_service(QuarantineService).page(paging(query)), _serialize)


@blueprint.operation(
    "POST",
    "/<scan_id>/release",
    access=Access.ADMIN,
    rule=operations.RELEASE,
    body=ReleaseSchema,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def release_from_quarantine(scan_id: str, body: dict[str, str]) -> dict[str, bool]:
    """Permit reading a file in quarantine.

    Requires a fresh proof: a code for `unbind`, the current password, or a login within the last 10
    minutes.
    """
    require_fresh_proof()
    get_service(QuarantineService).release(current_identity(), scan_id, body["reason"], origin())
    return DONE


@blueprint.operation(
    "DELETE",
    "/<scan_id>",
    access=Access.ADMIN,
    rule=operations.DELETE,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def delete_from_quarantine(scan_id: str) -> dict[str, bool]:
    """Delete a file in quarantine.

    Only administrators of the server may. The content is removed permanently, not into the trash, and
    the deletion is recorded in the audit log.
    """
    get_service(QuarantineService).delete(current_identity(), scan_id, origin())
    return DONE


def _serialize(item: QuarantinedFile) -> dict[str, Any]:
    scan, file = item.scan, item.file
    return {
        "id": scan.id,
        "kind": file.kind,
        "fileId": file.id,
        "tenantId": file.tenant_id,
        "name": file.name,
        "owner": {"$ref": file.owner_id},
        "size": file.size,
        "contentType": file.content_type,
        "scan": scan.state,
        "reason": scan.reason,
        "scanner": scan.scanner,
        "engine": scan.engine,
        "databaseVersion": scan.database_version,
        "scannedAt": scan.scanned_at,
    }
