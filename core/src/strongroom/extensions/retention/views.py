"""Endpoints of holds and of the retention of tenants."""

from typing import Any

from strongroom.content.nodes import operations
from strongroom.content.nodes.retention_models import Hold, RetentionMode, RetentionSettings
from strongroom.content.tenants.schemas import OverrideQuery
from strongroom.extensions.retention.schemas import (
    HoldQuery,
    HoldSchema,
    NewHoldSchema,
    NewRetentionSchema,
    RetentionSchema,
)
from strongroom.extensions.retention.service import HoldService, RetentionService, WantedRetention
from strongroom.foundation import errors
from strongroom.identity.accounts.views import PROOF_ERRORS, require_fresh_proof
from strongroom.plugin_api.schemas import DoneSchema, collection_schema
from strongroom.plugin_api.web import PROOF_PARAMETERS
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

Json = dict[str, Any]

blueprint = Blueprint(
    "retention",
    url_prefix="/api/v1/tenants/<tenant_id>",
    description="Holds on files, and the retention of tenants.",
)


@blueprint.operation(
    "PUT",
    "/files/<file_id>/hold",
    access=Access.USER,
    rule=operations.PLACE_HOLD,
    body=NewHoldSchema,
    returns=HoldSchema,
    errors=(errors.Forbidden, errors.NotFound, errors.RetentionLocked),
)
def put_hold(tenant_id: str, file_id: str, body: Json) -> Json:
    """Place a hold on a file, or on a folder with everything in it, or replace the hold.

    Requires the role `records` in the tenant. Nothing under a hold can be removed, deleted or moved out
    of it; replaced content becomes a version. A file in the trash can be held, too.
    """
    service = get_service(HoldService)
    caller = current_identity()
    return _serialize(service.place(caller, tenant_id, file_id, body["reason"], body["until"], origin()))


@blueprint.operation(
    "DELETE",
    "/files/<file_id>/hold",
    access=Access.USER,
    rule=operations.RELEASE_HOLD,
    query=OverrideQuery,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound, errors.RetentionLocked, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def delete_hold(tenant_id: str, file_id: str, query: Json) -> dict[str, bool]:
    """Release a hold. Requires the role `records` in the tenant, and a fresh proof.

    In governance mode, administrators of the tenant may release it with `overrideReason`. In compliance
    mode, a hold with an end cannot be released before it.
    """
    require_fresh_proof()
    service = get_service(HoldService)
    service.release(current_identity(), tenant_id, file_id, query["override_reason"], origin())
    return DONE


@blueprint.operation(
    "GET",
    "/holds",
    access=Access.USER,
    rule=operations.LIST_HOLDS,
    query=HoldQuery,
    returns=collection_schema(HoldSchema),
    compress=True,
    errors=(errors.Forbidden,),
)
def list_holds(tenant_id: str, query: Json) -> Json:
    """List the holds in force, newest first, for the role `records` and administrators of the tenant.

    With `fileId`, those on the file or folder and on the folders around it; the last to end is first.
    """
    service = get_service(HoldService)
    page, included = service.page(current_identity(), tenant_id, query["file_id"], paging(query))
    return envelope(page, _serialize, included)


@blueprint.operation(
    "GET",
    "/retention",
    access=Access.USER,
    rule=operations.GET_RETENTION,
    returns=RetentionSchema,
    errors=(errors.Forbidden,),
)
def get_retention(tenant_id: str) -> RetentionSettings:
    """Get the retention that applies to a tenant.

    For all members of the tenant. It combines the tenant's own settings with the server's, whichever is
    stricter.
    """
    return get_service(RetentionService).get(current_identity(), tenant_id)


@blueprint.operation(
    "PUT",
    "/retention",
    access=Access.USER,
    rule=operations.SET_RETENTION,
    body=NewRetentionSchema,
    returns=RetentionSchema,
    errors=(errors.Forbidden, errors.RetentionLocked, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def put_retention(tenant_id: str, body: Json) -> RetentionSettings:
    """Set the retention of a tenant. Requires an administrator of the tenant and a fresh proof.

    In compliance mode, no setting may become less strict.
    """
    require_fresh_proof()
    request = WantedRetention(
        body["trashDays"],
        body["keepVersions"],
        body["versionDays"],
        body["minimumDays"],
        RetentionMode(body["mode"]),
    )
    return get_service(RetentionService).set(current_identity(), tenant_id, request, origin())


def _serialize(hold: Hold) -> Json:
    return {**hold._asdict(), "placedBy": reference(hold.placed_by)}
