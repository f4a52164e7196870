"""Routes for imports of users."""

from collections.abc import Iterator
from typing import Any

from flask import request

from strongroom.extensions.user_imports.models import LineError, OnTakenUser, UserImport
from strongroom.extensions.user_imports.schemas import UserImportQuery, UserImportSchema
from strongroom.extensions.user_imports.service import UserImports
from strongroom.extensions.user_imports.store import ImportOptions
from strongroom.foundation import errors
from strongroom.foundation.json_text import encode_json
from strongroom.identity import operations
from strongroom.plugin_api.schemas import PagingQuery, collection_schema
from strongroom.plugin_api.storage import ByteSource
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.binary_content import NDJSON, binary_content, json_lines_content
from strongroom.web.http.locations import absolute_url
from strongroom.web.http.paging import envelope, paging
from strongroom.web.http.parsing import refuse_coding
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.response import Response
from strongroom.web.http.routing import Blueprint
from strongroom.web.http.uploads import open_body

blueprint = Blueprint(
    "user imports",
    description="Imports of users of other systems.",
    parameters={"import_id": "Id of the import, from the response that created it"},
)

Json = dict[str, Any]


@blueprint.operation(
    "POST",
    "/user-imports",
    access=Access.ADMIN,
    rule=operations.IMPORT_USERS,
    query=UserImportQuery,
    returns=UserImportSchema,
    status=202,
    errors=(errors.UnsupportedMediaType, errors.UploadIncomplete, errors.PayloadTooLarge),
    response_headers=("Location",),
    document={"requestBody": {"required": True, "content": json_lines_content()}},
)
def create_user_import(query: Json) -> tuple[UserImport, int, dict[str, str]]:
    """Import users: a body of JSON lines, at most 64 KiB each.

    The response arrives when all lines are received; then they are imported in the background, and
    each line counts once. `update` finds users by `externalId`, or else by a contact. It keeps
    passwords that were used here, and changes no administrator. An import whose caller loses the right
    to it ends with the state `revoked`.
    """
    options = ImportOptions(OnTakenUser(query["onConflict"]), query["dryRun"], query["events"])
    job = get_service(UserImports).create(_lines(), options, current_identity(), origin())
    url = absolute_url("user imports.get_user_import", import_id=job.id)
    return job, 202, {"Location": url}


@blueprint.operation(
    "GET",
    "/user-imports",
    access=Access.ADMIN,
    rule=operations.READ_IMPORTS,
    query=PagingQuery,
    returns=collection_schema(UserImportSchema),
    compress=True,
)
def list_user_imports(query: dict[str, int]) -> Json:
    """List the imports of the last month, newest first.

    For administrators. The counts of an import that runs grow meanwhile.
    """
    return envelope(get_service(UserImports).page(paging(query)))


@blueprint.operation(
    "GET",
    "/user-imports/<import_id>",
    access=Access.ADMIN,
    rule=operations.READ_IMPORTS,
    returns=UserImportSchema,
    errors=(errors.NotFound,),
)
def get_user_import(import_id: str) -> UserImport:
    """Get an import: its state, and how many lines were processed.

    For administrators. Repeat the request until `state` is `finished`, `cancelled` or `revoked`.
    """
    return get_service(UserImports).get(import_id)


@blueprint.operation(
    "GET",
    "/user-imports/<import_id>/errors",
    access=Access.ADMIN,
    rule=operations.READ_IMPORTS,
    errors=(errors.NotFound,),
    document={
        "responses": {
            "200": {
                "description": "A JSON object per line",
                "content": binary_content(NDJSON),
            }
        }
    },
)
def list_user_import_errors(import_id: str) -> Response:
    """Get why lines were refused: JSON lines with `line`, `code`, `field` and `message`.

    For administrators. `line` counts from 1, with empty lines; the response is empty while no line was
    refused.
    """
    return Response(
        _encoded(get_service(UserImports).errors(import_id)), headers={"Content-Type": NDJSON}
    )


@blueprint.operation(
    "DELETE",
    "/user-imports/<import_id>",
    access=Access.ADMIN,
    rule=operations.CANCEL_IMPORT,
    returns=UserImportSchema,
    errors=(errors.NotFound,),
)
def cancel_user_import(import_id: str) -> UserImport:
    """Cancel an import. Users who are imported already stay; one that has ended does not change.

    For administrators. Lines that were not processed are discarded; send them again in another import.
    """
    identity = current_identity()
    return get_service(UserImports).cancel(import_id, identity.user_id, origin())


def _lines() -> ByteSource:
    refuse_coding()
    if request.mimetype != NDJSON:
        raise errors.UnsupportedMediaType(f"The body must be JSON lines: Content-Type: {NDJSON}.")
    return open_body()


def _encoded(lines: Iterator[LineError]) -> Iterator[bytes]:
    names = ("line", "code", "field", "message")
    for error in lines:
        yield (encode_json({name: getattr(error, name) for name in names}) + "\n").encode()
