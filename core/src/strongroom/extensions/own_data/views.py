"""Routes by which users export and delete all of their own data."""

from typing import Final

from strongroom.extensions.own_data.own_exports import OwnExports
from strongroom.extensions.own_data.scheduled_deletions import ScheduledDeletions
from strongroom.extensions.own_data.schemas import ScheduledDeletionSchema
from strongroom.foundation import errors
from strongroom.identity import operations
from strongroom.identity.accounts.views import (
    PROOF_ERRORS,
    PROOF_HEADERS,
    proof_of_headers,
)
from strongroom.plugin_api.schemas import DoneSchema
from strongroom.plugin_api.web import PROOF_PARAMETERS
from strongroom.web.http.access import Access, current_identity, own_id
from strongroom.web.http.binary_content import binary_content
from strongroom.web.http.downloads import content_disposition
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.response import Response
from strongroom.web.http.routing import Blueprint

_ZIP: Final = "application/zip"

blueprint = Blueprint("own-data", url_prefix="/users", description="All data of a user, for the user.")


@blueprint.operation(
    "POST",
    "/<user_id>/exports",
    access=Access.USER,
    rule=operations.EXPORT_OWN_DATA,
    errors=(errors.Forbidden, *PROOF_ERRORS),
    response_headers=("Content-Disposition",),
    document={
        "parameters": PROOF_PARAMETERS,
        "responses": {
            "200": {"description": "A ZIP archive of JSON files", "content": binary_content(_ZIP)}
        },
    },
)
def export_own_data(user_id: str) -> Response:
    """Export what the server stores about the caller (`me`): a ZIP archive of JSON files.

    It has neither passwords nor keys, and of files only the names, because their content belongs to the
    tenant. It needs a fresh proof: a code for `unbind`, the current password, or a login within the last
    10 minutes. By default, a user can have two a day.
    """
    archive = get_service(OwnExports).create(
        current_identity(), own_id(user_id), proof_of_headers(), PROOF_HEADERS, origin()
    )
    headers = {
        "Content-Type": _ZIP,
        "Content-Length": str(archive.size),
        "Content-Disposition": content_disposition("own-data.zip", inline=False),
    }
    return Response(archive, headers=headers)


@blueprint.operation(
    "POST",
    "/<user_id>/deletion",
    access=Access.USER,
    rule=operations.SCHEDULE_DELETION,
    returns=ScheduledDeletionSchema,
    status=201,
    errors=(errors.Forbidden, errors.LastAdministrator, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def schedule_deletion(user_id: str) -> dict[str, int]:
    """Schedule the deletion of the caller (`me`), who can cancel it for 14 days, by default.

    The caller's other logins end, and the caller is notified. It needs a fresh proof, as `deleteUser`. A
    second request does not postpone it.
    """
    due_at = get_service(ScheduledDeletions).schedule(
        current_identity(), own_id(user_id), proof_of_headers(), PROOF_HEADERS, origin()
    )
    return {"due_at": due_at}


@blueprint.operation(
    "GET",
    "/<user_id>/deletion",
    access=Access.USER,
    returns=ScheduledDeletionSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def get_deletion(user_id: str) -> dict[str, int]:
    """Get the scheduled deletion of the caller (`me`).

    404 if none is scheduled. Only the user can read it here; administrators see `deletionDueAt` of the
    user.
    """
    return {"due_at": get_service(ScheduledDeletions).due_at(current_identity(), own_id(user_id))}


@blueprint.operation(
    "DELETE",
    "/<user_id>/deletion",
    access=Access.USER,
    returns=DoneSchema,
    errors=(errors.Forbidden, errors.NotFound),
)
def cancel_deletion(user_id: str) -> dict[str, bool]:
    """Cancel the scheduled deletion of the caller (`me`).

    404 if none is scheduled. The user is notified, and can schedule a deletion again.
    """
    get_service(ScheduledDeletions).cancel(current_identity(), own_id(user_id), origin())
    return DONE
