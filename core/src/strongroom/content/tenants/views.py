"""Endpoints for tenants and their members."""

from collections.abc import Mapping
from typing import Any

from strongroom.content.tenants import operations
from strongroom.content.tenants.models import Member, Role, Tenant, Usage
from strongroom.content.tenants.schemas import (
    MemberSchema,
    NewTenantSchema,
    OverrideQuery,
    RoleSchema,
    SuccessorSchema,
    TenantChangesSchema,
    TenantSchema,
    TenantsQuery,
    UsageSchema,
)
from strongroom.content.tenants.service import TenantService
from strongroom.content.tenants.tenant_deletions import TenantDeletion
from strongroom.foundation.caller import Override
from strongroom.foundation.errors import (
    FileHeld,
    FileRetained,
    Forbidden,
    LastAdministrator,
    NotAMember,
    NotFound,
    RevisionConflict,
)
from strongroom.identity.accounts.views import PROOF_ERRORS, require_fresh_proof
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import PROOF_PARAMETERS, Location
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import DONE
from strongroom.web.http.request import get_service, origin
from strongroom.web.http.routing import Blueprint

blueprint = Blueprint(
    "tenants",
    url_prefix="/api/v1/tenants",
    description="Tenants and their members.",
    parameters={
        "user_id": "Id of the member, as in the list of the tenant's members",
    },
)


def requested_override(query: Mapping[str, Any], *, is_proven: bool = True) -> Override | None:
    """Return the override of retention that a removal requests.

    Args:
        query: the parameters of :class:`OverrideQuery`.
        is_proven: whether the operation has required a fresh proof; otherwise an override requires it.

    Raises:
        CodeInvalid, WrongPassword, FreshProofRequired, TooManyRequests: the proof is missing or wrong.
    """
    reason = query["override_reason"]
    if reason is None:
        return None
    if not is_proven:
        require_fresh_proof()
    return Override(current_identity(), reason, origin())


@blueprint.operation(
    "POST",
    "",
    access=Access.USER,
    rule=operations.CREATE,
    body=NewTenantSchema,
    returns=TenantSchema,
    status=201,
    location=Location("tenants.get_tenant", {"tenant_id": "id"}),
    errors=(Forbidden,),
)
def create_tenant(body: dict[str, Any]) -> Tenant:
    """Create a tenant; the caller becomes its administrator.

    The server's configuration decides whether all users may, or only its administrators. The tenant
    gets the server's default quota.
    """
    return get_service(TenantService).create(current_identity(), body["name"], origin())


@blueprint.operation(
    "GET",
    "",
    access=Access.USER,
    rule=operations.LIST,
    any_tenant=True,
    query=TenantsQuery,
    returns=collection_schema(TenantSchema),
    compress=True,
    errors=(Forbidden,),
)
def list_tenants(query: dict[str, Any]) -> dict[str, Any]:
    """List the caller's tenants, or, for administrators of the server, all or a user's tenants.

    Sorted by name; deleted tenants are left out. An access key that is limited to a tenant lists only
    this one.
    """
    service, identity = get_service(TenantService), current_identity()
    if query["member_id"] is not None:
        return envelope(service.of_member(identity, query["member_id"], paging(query)))
    list_page = service.of_server if query["all"] else service.of_caller
    return envelope(list_page(identity, paging(query)))


@blueprint.operation(
    "GET",
    "/<tenant_id>",
    access=Access.USER,
    rule=operations.GET,
    returns=TenantSchema,
    errors=(Forbidden,),
)
def get_tenant(tenant_id: str) -> Tenant:
    """Get one of the caller's tenants.

    Only members may read it: other callers get 403, whether or not the tenant exists. `revision` is
    needed to change it without losing a concurrent change.
    """
    return get_service(TenantService).get(current_identity(), tenant_id)


@blueprint.operation(
    "PATCH",
    "/<tenant_id>",
    access=Access.USER,
    rule=operations.CHANGE,
    body=TenantChangesSchema,
    returns=TenantSchema,
    errors=(Forbidden, NotFound, RevisionConflict),
)
def update_tenant(tenant_id: str, body: dict[str, Any], revision: int | None) -> Tenant:
    """Rename a tenant, set its quota, or set what it demands of logins.

    Only server administrators may set the quota. With `assurance`, every route of the tenant refuses
    weaker or older logins with `error.step-up-required`, and access keys with `error.key-not-accepted`.
    """
    if "assurance" in body:
        assurance = body.pop("assurance") or {"acr": None, "max_age": None}
        body |= {"required_acr": assurance["acr"], "max_proof_age": assurance["max_age"]}
    return get_service(TenantService).update(current_identity(), tenant_id, body, revision, origin())


@blueprint.operation(
    "DELETE",
    "/<tenant_id>",
    access=Access.USER,
    rule=operations.DELETE,
    query=OverrideQuery,
    returns=DoneSchema,
    errors=(Forbidden, NotFound, FileHeld, FileRetained, *PROOF_ERRORS),
    document={"parameters": PROOF_PARAMETERS},
)
def delete_tenant(tenant_id: str, query: dict[str, Any], revision: int | None) -> dict[str, bool]:
    """Delete a tenant with all its files: it is hidden immediately and purged after a grace period.

    During `tenants.purge_after_days` the operator can restore it with `strongroom tenants restore`.
    A tenant with held or retained content cannot be deleted; `overrideReason` requires a fresh proof.
    """
    override = requested_override(query, is_proven=False)
    deletion = get_service(TenantDeletion)
    deletion.delete(current_identity(), tenant_id, origin(), override, revision)
    return DONE


@blueprint.operation(
    "GET",
    "/<tenant_id>/usage",
    access=Access.USER,
    rule=operations.GET_USAGE,
    returns=UsageSchema,
    errors=(Forbidden, NotFound),
)
def get_usage(tenant_id: str) -> Usage:
    """Get the usage and the quota of a tenant. The trash and earlier contents of files count as used.

    For members of the tenant and administrators of the server. Other callers get 403, whether or not
    the tenant exists.
    """
    return get_service(TenantService).usage(current_identity(), tenant_id)


@blueprint.operation(
    "GET",
    "/<tenant_id>/members",
    access=Access.USER,
    rule=operations.LIST_MEMBERS,
    query=PagingQuery,
    returns=collection_schema(MemberSchema),
    compress=True,
    errors=(Forbidden,),
)
def list_members(tenant_id: str, query: dict[str, int]) -> dict[str, Any]:
    """List the members of a tenant.

    Oldest first, with the role of each, for all members of the tenant. Other callers get 403, whether
    or not the tenant exists.
    """
    page, included = get_service(TenantService).members(current_identity(), tenant_id, paging(query))
    return envelope(page, _serialize, included)


@blueprint.operation(
    "PUT",
    "/<tenant_id>/members/<user_id>",
    access=Access.USER,
    rule=operations.SET_ROLE,
    body=RoleSchema,
    returns=MemberSchema,
    errors=(Forbidden, NotFound, LastAdministrator),
)
def put_member(tenant_id: str, user_id: str, body: dict[str, Any]) -> dict[str, Any]:
    """Add a member to a tenant, or change a member's role.

    With `tenants.add_members = "invited"`, only administrators of the server add users by their ids;
    administrators of the tenant invite them.
    """
    role = Role(body["role"])
    return _serialize(
        get_service(TenantService).put_member(current_identity(), tenant_id, user_id, role, origin())
    )


@blueprint.operation(
    "DELETE",
    "/<tenant_id>/members/<user_id>",
    access=Access.USER,
    rule=operations.REMOVE_MEMBER,
    returns=DoneSchema,
    errors=(Forbidden, LastAdministrator),
)
def delete_member(tenant_id: str, user_id: str) -> dict[str, bool]:
    """Remove a member from a tenant; members may remove themselves.

    Only administrators of the tenant remove other members; a missing membership is not an error. The
    user's grants, open uploads and access keys for this tenant end, and owned files stay: transfer them
    to another member. The last administrator cannot be removed.
    """
    get_service(TenantService).remove_member(current_identity(), tenant_id, user_id, origin())
    return DONE


@blueprint.operation(
    "POST",
    "/<tenant_id>/transfer",
    access=Access.USER,
    rule=operations.TRANSFER,
    body=SuccessorSchema,
    returns=MemberSchema,
    errors=(Forbidden, NotAMember),
)
def transfer_tenant(tenant_id: str, body: dict[str, Any]) -> dict[str, Any]:
    """Make a member the administrator of the tenant in the caller's place.

    Administrators of the server appoint an administrator by it, also in a tenant without one.
    """
    service = get_service(TenantService)
    return _serialize(service.hand_over(current_identity(), tenant_id, body["toUserId"], origin()))


def _serialize(member: Member) -> dict[str, Any]:
    return {"user": reference(member.user_id), "role": member.role, "created_at": member.created_at}
