"""Endpoints of the versions of a file."""

from typing import Final

from strongroom.content.files.node_responses import CHANGE_ERRORS
from strongroom.content.files.schemas import NodeSchema
from strongroom.content.files.serializers import Json, serialize_node
from strongroom.content.files.views import DOWNLOAD_DOCUMENT, send_node
from strongroom.content.nodes import operations
from strongroom.content.nodes.versions import Version
from strongroom.content.scanning.states import SKIPPED, UNREADABLE_ERRORS
from strongroom.content.tenants.schemas import OverrideQuery
from strongroom.content.tenants.views import requested_override
from strongroom.extensions.versions.schemas import VersionChangesSchema, VersionSchema
from strongroom.extensions.versions.service import VersionService
from strongroom.foundation import errors
from strongroom.identity.accounts.views import PROOF_ERRORS, require_fresh_proof
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import PROOF_PARAMETERS
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.header_descriptions import DOWNLOAD_REQUEST, DOWNLOAD_RESPONSE
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service
from strongroom.web.http.response import Response
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "versions",
    url_prefix="/api/v1/tenants/<tenant_id>/files/<file_id>/versions",
    description="Earlier contents of files.",
    parameters={
        "number": "`number` of the version, as in the list of versions",
    },
)

_MAX_DIGITS: Final = 9
"""A number fits into the column of every database."""

_ERRORS = (errors.Forbidden, errors.NotFound, errors.NotAFile)


@blueprint.operation(
    "GET",
    "",
    access=Access.USER,
    rule=operations.LIST_VERSIONS,
    query=PagingQuery,
    returns=collection_schema(VersionSchema),
    compress=True,
    errors=_ERRORS,
)
def list_versions(tenant_id: str, file_id: str, query: dict[str, int]) -> Json:
    """List the earlier contents of a file, newest first. The current content is not among them.

    The caller needs the permission `read`. Versions count in the quota, and are removed by the tenant's
    retention unless `keep` is set.
    """
    service = get_service(VersionService)
    page, included = service.page(current_identity(), tenant_id, file_id, paging(query))
    return envelope(page, _serialize, included)


@blueprint.operation(
    "GET",
    "/<number>/download",
    access=Access.USER,
    rule=operations.DOWNLOAD_VERSION,
    errors=(
        *_ERRORS,
        *UNREADABLE_ERRORS,
        errors.PreconditionFailed,
        errors.RangeNotSatisfiable,
    ),
    document=DOWNLOAD_DOCUMENT,
    request_headers=DOWNLOAD_REQUEST,
    response_headers=(*DOWNLOAD_RESPONSE, "Location"),
)
def download_version(tenant_id: str, file_id: str, number: str) -> Response:
    """Download an earlier content of a file, or ranges of it, as the file itself.

    The caller needs the permission `read` on the file. It has the file's present name, and the content
    and `ETag` of the version.
    """
    caller = current_identity()
    node, location = get_service(VersionService).locate(caller, tenant_id, file_id, _number(number))
    return send_node(caller, node, location)


@blueprint.operation(
    "POST",
    "/<number>/restore",
    access=Access.USER,
    rule=operations.RESTORE_VERSION,
    returns=NodeSchema,
    errors=(*CHANGE_ERRORS, errors.NotAFile, *UNREADABLE_ERRORS, errors.StorageFull),
)
def restore_version(tenant_id: str, file_id: str, number: str, revision: int | None) -> Json:
    """Give a file an earlier content again. The current content becomes a version.

    The caller needs the permission `write`. The version itself stays in the list. The restored content
    counts in the quota once more.
    """
    service = get_service(VersionService)
    view = service.restore(current_identity(), tenant_id, file_id, _number(number), revision)
    return serialize_node(view)


@blueprint.operation(
    "PATCH",
    "/<number>",
    access=Access.USER,
    rule=operations.CHANGE_VERSION,
    body=VersionChangesSchema,
    returns=VersionSchema,
    errors=_ERRORS,
)
def change_version(tenant_id: str, file_id: str, number: str, body: Json) -> Json:
    """Label an earlier content, or keep it whatever its age.

    The caller needs the permission `write` on the file. The body has at least one of `label` and
    `keep`.
    """
    service = get_service(VersionService)
    return _serialize(service.mark(current_identity(), tenant_id, file_id, _number(number), body))


@blueprint.operation(
    "DELETE",
    "/<number>",
    access=Access.USER,
    rule=operations.DELETE_VERSION,
    query=OverrideQuery,
    returns=DoneSchema,
    errors=(*_ERRORS, errors.FileHeld, errors.FileRetained, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def delete_version(tenant_id: str, file_id: str, number: str, query: Json) -> dict[str, bool]:
    """Remove an earlier content permanently.

    Requires a fresh proof: a code for `unbind`, the current password, or a login within the last 10
    minutes.
    """
    require_fresh_proof()
    override = requested_override(query)
    service = get_service(VersionService)
    service.delete(current_identity(), tenant_id, file_id, _number(number), override)
    return DONE


def _number(text: str) -> int:
    """Return the number of a version in a path."""
    if not text.isascii() or not text.isdecimal() or len(text) > _MAX_DIGITS:
        raise errors.NotFound
    return int(text)


def _serialize(version: Version) -> Json:
    return {
        **version._asdict(),
        "checksum": f"sha256:{version.checksum}",
        "scan": version.scan or SKIPPED,
        "archivedBy": reference(version.archived_by),
    }
