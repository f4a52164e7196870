"""Route of impersonation."""

from typing import Any

from strongroom.extensions.impersonation.schemas import ImpersonationSchema, NewImpersonationSchema
from strongroom.extensions.impersonation.service import Impersonation, ImpersonationService
from strongroom.foundation import errors
from strongroom.identity import operations
from strongroom.plugin_api.web import Location
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.request import client, get_service, origin
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "impersonation", description="Administrators see what a user sees, for a limited time."
)


@blueprint.operation(
    "POST",
    "/users/<user_id>/impersonation",
    access=Access.ADMIN,
    rule=operations.IMPERSONATE,
    body=NewImpersonationSchema,
    returns=ImpersonationSchema,
    status=201,
    location=Location("authorizations.delete_authorization", {"reference": "id"}),
    errors=(errors.NotFound, errors.UserSuspended),
)
def impersonate_user(user_id: str, body: dict[str, Any]) -> Impersonation:
    """Get an access token that reads as an ordinary user does, and changes nothing.

    Its claim `act` names the caller (RFC 8693, section 4.1). It cannot be renewed. The user sees it in
    the list of logins, and can end it.
    """
    return get_service(ImpersonationService).begin(
        current_identity(), user_id, body["reason"], body["minutes"], client(), origin()
    )
