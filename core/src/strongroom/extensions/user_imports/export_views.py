"""The route that exports users."""

from typing import Final

from strongroom.extensions.user_imports.user_export_files import UserExports
from strongroom.identity import operations
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.binary_content import NDJSON, binary_content
from strongroom.web.http.downloads import content_disposition
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.response import Response
from strongroom.web.http.routing import Blueprint

_FILE_NAME: Final = "users.ndjson"

blueprint = Blueprint("user exports", description="Exports of users.")


@blueprint.operation(
    "GET",
    "/user-exports",
    access=Access.ADMIN,
    rule=operations.EXPORT_USERS,
    response_headers=("Content-Disposition",),
    document={
        "responses": {
            "200": {"description": "A JSON object per line", "content": binary_content(NDJSON)}
        }
    },
)
def export_users() -> Response:
    """Export all users but administrators and services: JSON lines, as an import accepts them.

    The lines have neither passwords nor second factors. The audit log records the export.
    """
    lines = get_service(UserExports).create(current_identity().user_id, origin())
    headers = {
        "Content-Type": NDJSON,
        "Content-Disposition": content_disposition(_FILE_NAME, inline=False),
    }
    return Response(lines, headers=headers)
