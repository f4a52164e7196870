"""Endpoints for grants on files and folders, and for access reports."""

from strongroom.errors import Forbidden, NotAMember, NotFound
from strongroom.files.grants import AccessExplainer, Explanation, GrantRequest, GrantService, Reason
from strongroom.files.models import Grant, Permission
from strongroom.files.schemas import AccessQuery, AccessSchema, GrantSchema, NewGrantSchema
from strongroom.files.serializers import Json
from strongroom.http.access import Access, current_identity
from strongroom.http.pages import PagingQuery, collection_of, envelope, paging, reference
from strongroom.http.parsing import DONE, DoneSchema
from strongroom.http.request import get_service, origin
from strongroom.http.routing import Blueprint
from strongroom.plugin_api.authentication import Scope

blueprint = Blueprint(
    "permissions",
    __name__,
    url_prefix="/api/v1/tenants/<tenant_id>/files/<file_id>",
    description="Grants on files and folders.",
)

_REPLACED: Json = {
    "description": "As 201; an existing grant was replaced",
    "content": {"application/json": {"schema": GrantSchema}},
}


@blueprint.operation(
    "POST",
    "/owners",
    access=Access.USER,
    scope=Scope.FILES_SHARE,
    body=NewGrantSchema,
    returns=GrantSchema,
    status=201,
    errors=(Forbidden, NotFound, NotAMember),
    document={"responses": {"200": _REPLACED}},
)
def put_grant(tenant_id: str, file_id: str, body: Json) -> tuple[Json, int]:
    """Grant a permission to a member of the tenant; this replaces the member's grant on the same node.

    A grant on a folder applies to everything below it. It may not outlast the caller's own permission.
    """
    requested = GrantRequest(body["ownerId"], Permission[body["permission"].upper()], body["expiresAt"])
    grant, is_new = get_service(GrantService).put(
        current_identity(), tenant_id, file_id, requested, origin()
    )
    return _present(grant), 201 if is_new else 200


@blueprint.operation(
    "GET",
    "/owners",
    access=Access.USER,
    scope=Scope.FILES_SHARE,
    query=PagingQuery,
    returns=collection_of(GrantSchema),
    errors=(Forbidden, NotFound),
)
def list_grants(tenant_id: str, file_id: str, query: dict[str, int]) -> Json:
    """List the grants in force on a file or folder itself, without those on its parent folders."""
    page, included = get_service(GrantService).page(
        current_identity(), tenant_id, file_id, paging(query)
    )
    return envelope(page, _present, included)


@blueprint.operation(
    "DELETE",
    "/owners/<owner_id>",
    access=Access.USER,
    scope=Scope.FILES_SHARE,
    returns=DoneSchema,
    errors=(Forbidden, NotFound),
)
def delete_grant(tenant_id: str, file_id: str, owner_id: str) -> dict[str, bool]:
    """Revoke a user's grant on a file or folder; revoking a missing grant is not an error."""
    get_service(GrantService).remove(current_identity(), tenant_id, file_id, owner_id, origin())
    return DONE


@blueprint.operation(
    "GET",
    "/access",
    access=Access.USER,
    scope=Scope.FILES_SHARE,
    query=AccessQuery,
    returns=AccessSchema,
    errors=(Forbidden, NotFound),
)
def explain_access(tenant_id: str, file_id: str, query: Json) -> Json:
    """Explain a user's permission on a file or folder: the role and the grants it comes from."""
    explanation = get_service(AccessExplainer).explain(
        current_identity(), tenant_id, file_id, query["userId"] or current_identity().user_id
    )
    return _present_explanation(explanation)


def _present(grant: Grant) -> Json:
    return {
        "fileId": grant.node_id,
        "ownerId": grant.user_id,
        "owner": reference(grant.user_id),
        "permission": grant.permission.name.lower(),
        "expiresAt": grant.expires_at,
        "grantedBy": reference(grant.granted_by) if grant.granted_by else None,
        "createdAt": grant.created_at,
    }


def _present_explanation(explanation: Explanation) -> Json:
    return {
        "userId": explanation.user_id,
        "role": explanation.role.value if explanation.role else None,
        "permission": explanation.permission.name.lower(),
        "grants": [_present_reason(reason) for reason in explanation.reasons],
    }


def _present_reason(reason: Reason) -> Json:
    return {
        "fileId": reason.node_id,
        "fileName": reason.node_name,
        "permission": reason.permission.name.lower(),
        "expiresAt": reason.expires_at,
        "inForce": reason.in_force,
    }
