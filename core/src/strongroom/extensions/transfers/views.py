"""The endpoint that transfers the files of a leaver."""

from typing import Any

from strongroom.content.nodes import operations
from strongroom.content.tenants.schemas import SuccessorSchema, TransferredSchema
from strongroom.extensions.transfers.service import Transferred, TransferService
from strongroom.foundation import errors
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "transfers",
    url_prefix="/api/v1/tenants/<tenant_id>/members/<user_id>",
    description="Transfers of the files of a member to another member.",
    parameters={
        "user_id": "Id of the member whose files are transferred",
    },
)


@blueprint.operation(
    "POST",
    "/transfer",
    access=Access.USER,
    rule=operations.TRANSFER_FILES,
    body=SuccessorSchema,
    returns=TransferredSchema,
    errors=(errors.Forbidden, errors.NotAMember),
)
def transfer_member(tenant_id: str, user_id: str, body: dict[str, Any]) -> Transferred:
    """Make another member the owner of all files and folders of a user, and the holder of all grants.

    For administrators of the tenant, before or after the user leaves it. The user's memberships stay. If
    the request is interrupted, repeating it continues the transfer.
    """
    service = get_service(TransferService)
    return service.transfer(current_identity(), tenant_id, user_id, body["toUserId"], origin())
