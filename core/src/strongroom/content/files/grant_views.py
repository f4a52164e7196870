"""Endpoints for grants on files and folders, and for access reports."""

from typing import Any

from strongroom.content.files.access_explanation import AccessExplainer, Explanation, Reason
from strongroom.content.files.grants import GrantRequest, GrantService, GroupGrantRequest
from strongroom.content.files.group_grants import GroupGrantService
from strongroom.content.files.schemas import (
    AccessQuery,
    AccessSchema,
    GrantSchema,
    GroupGrantSchema,
    NewGrantSchema,
    NewGroupGrantSchema,
)
from strongroom.content.files.serializers import Json
from strongroom.content.nodes import operations
from strongroom.content.nodes.models import Grant, GroupGrant, Permission
from strongroom.foundation.errors import Forbidden, NotAMember, NotFound
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import Location
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "permissions",
    url_prefix="/api/v1/tenants/<tenant_id>/files/<file_id>",
    description="Grants on files and folders.",
    parameters={
        "owner_id": "Id of the user who has the grant",
    },
)


def _replaced(schema: type[Any]) -> Json:
    return {
        "description": "As 201; an existing grant was replaced",
        "content": {"application/json": {"schema": schema}},
    }


@blueprint.operation(
    "POST",
    "/owners",
    access=Access.USER,
    rule=operations.GRANT,
    body=NewGrantSchema,
    returns=GrantSchema,
    status=201,
    location=Location("permissions.delete_grant", {"owner_id": "ownerId"}),
    errors=(Forbidden, NotFound, NotAMember),
    document={"responses": {"200": _replaced(GrantSchema)}},
)
def put_grant(tenant_id: str, file_id: str, body: Json) -> tuple[Json, int]:
    """Grant a permission to a member of the tenant; this replaces the member's grant on the same node.

    A grant on a folder applies to everything below it. It may not outlast the caller's own permission.
    """
    requested = GrantRequest(body["ownerId"], Permission[body["permission"].upper()], body["expiresAt"])
    grant, is_new = get_service(GrantService).put(
        current_identity(), tenant_id, file_id, requested, origin()
    )
    return _serialize(grant), 201 if is_new else 200


@blueprint.operation(
    "GET",
    "/owners",
    access=Access.USER,
    rule=operations.LIST_GRANTS,
    query=PagingQuery,
    returns=collection_schema(GrantSchema),
    compress=True,
    errors=(Forbidden, NotFound),
)
def list_grants(tenant_id: str, file_id: str, query: dict[str, int]) -> Json:
    """List the grants in force on a file or folder itself, without those on its parent folders.

    The caller needs the permission `manage`. Expired grants are left out.
    """
    page, included = get_service(GrantService).page(
        current_identity(), tenant_id, file_id, paging(query)
    )
    return envelope(page, _serialize, included)


@blueprint.operation(
    "DELETE",
    "/owners/<owner_id>",
    access=Access.USER,
    rule=operations.REVOKE,
    returns=DoneSchema,
    errors=(Forbidden, NotFound),
)
def delete_grant(tenant_id: str, file_id: str, owner_id: str) -> dict[str, bool]:
    """Revoke a user's grant on a file or folder; revoking a missing grant is not an error.

    The caller needs the permission `manage`. The user keeps what other grants give, such as those on
    parent folders or to groups; `explainAccess` lists them. Only an administrator of the tenant may
    revoke the permission of the owner.
    """
    get_service(GrantService).remove(current_identity(), tenant_id, file_id, owner_id, origin())
    return DONE


@blueprint.operation(
    "POST",
    "/group-grants",
    access=Access.USER,
    rule=operations.GRANT,
    body=NewGroupGrantSchema,
    returns=GroupGrantSchema,
    status=201,
    location=Location("permissions.delete_group_grant", {"group_id": "groupId"}),
    errors=(Forbidden, NotFound),
    document={"responses": {"200": _replaced(GroupGrantSchema)}},
)
def put_group_grant(tenant_id: str, file_id: str, body: Json) -> tuple[Json, int]:
    """Grant a permission to a group of the tenant; this replaces the group's grant on the same node.

    It applies to the present and future members of the group, and on a folder to everything below it. It
    may not outlast the caller's own permission.
    """
    requested = GroupGrantRequest(
        body["groupId"], Permission[body["permission"].upper()], body["expiresAt"]
    )
    grant, is_new = get_service(GroupGrantService).put(
        current_identity(), tenant_id, file_id, requested, origin()
    )
    return _serialize_group_grant(grant), 201 if is_new else 200


@blueprint.operation(
    "GET",
    "/group-grants",
    access=Access.USER,
    rule=operations.LIST_GRANTS,
    query=PagingQuery,
    returns=collection_schema(GroupGrantSchema),
    compress=True,
    errors=(Forbidden, NotFound),
)
def list_group_grants(tenant_id: str, file_id: str, query: dict[str, int]) -> Json:
    """List the grants to groups in force on a file or folder itself, without its parent folders'.

    The caller needs the permission `manage`. Expired grants are left out.
    """
    page, included = get_service(GroupGrantService).page(
        current_identity(), tenant_id, file_id, paging(query)
    )
    return envelope(page, _serialize_group_grant, included)


@blueprint.operation(
    "DELETE",
    "/group-grants/<group_id>",
    access=Access.USER,
    rule=operations.REVOKE,
    returns=DoneSchema,
    errors=(Forbidden, NotFound),
)
def delete_group_grant(tenant_id: str, file_id: str, group_id: str) -> dict[str, bool]:
    """Revoke a group's grant on a file or folder; revoking a missing grant is not an error.

    The caller needs the permission `manage`. Members of the group keep what other grants give.
    """
    service = get_service(GroupGrantService)
    service.remove(current_identity(), tenant_id, file_id, group_id, origin())
    return DONE


@blueprint.operation(
    "GET",
    "/access",
    access=Access.USER,
    rule=operations.EXPLAIN_ACCESS,
    query=AccessQuery,
    returns=AccessSchema,
    compress=True,
    errors=(Forbidden, NotFound),
)
def explain_access(tenant_id: str, file_id: str, query: Json) -> Json:
    """Explain a user's permission on a file or folder: the role and the grants it comes from.

    The caller needs the permission `manage`. Expired grants are listed with `inForce` false. The report
    on a user who is no member of the tenant is empty.
    """
    explanation = get_service(AccessExplainer).explain(
        current_identity(), tenant_id, file_id, query["userId"] or current_identity().user_id
    )
    return _serialize_explanation(explanation)


def _serialize(grant: Grant) -> Json:
    return {
        "fileId": grant.node_id,
        "ownerId": grant.user_id,
        "owner": reference(grant.user_id),
        "permission": grant.permission.name.lower(),
        "expiresAt": grant.expires_at,
        "grantedBy": reference(grant.granted_by) if grant.granted_by else None,
        "createdAt": grant.created_at,
    }


def _serialize_group_grant(grant: GroupGrant) -> Json:
    return {
        "fileId": grant.node_id,
        "groupId": grant.group_id,
        "groupName": grant.group_name,
        "permission": grant.permission.name.lower(),
        "expiresAt": grant.expires_at,
        "grantedBy": reference(grant.granted_by) if grant.granted_by else None,
        "createdAt": grant.created_at,
    }


def _serialize_explanation(explanation: Explanation) -> Json:
    return {
        "userId": explanation.user_id,
        "role": explanation.role.value if explanation.role else None,
        "permission": explanation.permission.name.lower(),
        "grants": [_serialize_reason(reason) for reason in explanation.reasons],
    }


def _serialize_reason(reason: Reason) -> Json:
    return {
        "fileId": reason.node_id,
        "fileName": reason.node_name,
        "permission": reason.permission.name.lower(),
        "expiresAt": reason.expires_at,
        "inForce": reason.in_force,
        "groupId": reason.group_id,
        "groupName": reason.group_name,
    }
