"""The routes of creators: shares of a file, of a tenant, and for the caller; the policy of a tenant."""

from typing import Any, Final

from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.request import current_host, get_service
from strongroom.plugin_api.schemas import DoneSchema, PagingQuery, collection_schema
from strongroom.plugin_api.web import Access, Blueprint
from strongroom_share_links.errors import CREATOR_ONLY, FORBIDDEN, OUTDATED, POLICY, UNKNOWN
from strongroom_share_links.links import SharedLink
from strongroom_share_links.policies import Policy
from strongroom_share_links.schemas import (
    NewShareSchema,
    OpeningSchema,
    OpeningsQuery,
    PolicyChangesSchema,
    PolicySchema,
    ShareChangesSchema,
    SharedWithMeSchema,
    ShareSchema,
    SharesQuery,
)
from strongroom_share_links.service import Shares
from strongroom_share_links.states import State

Json = dict[str, Any]

_TENANT: Final = "/api/v1/tenants/<tenant_id>"
_OF_FILE: Final = f"{_TENANT}/files/<file_id>/shares"
_OF_TENANT: Final = f"{_TENANT}/shares"
_ONE: Final = f"{_OF_TENANT}/<share_id>"
_POLICY: Final = f"{_TENANT}/share-policy"


routes = Blueprint(
    "shares",
    description="Share links and drop boxes, for their makers.",
    parameters={"share_id": "Id of the share; not the secret of its link"},
)


@routes.operation(
    "POST",
    _OF_FILE,
    access=Access.USER,
    scope=Scope.FILES_SHARE,
    body=NewShareSchema,
    returns=ShareSchema,
    status=201,
    errors=(FORBIDDEN, POLICY),
)
def create_share(tenant_id: str, file_id: str, body: Json) -> Any:
    """Share a file or folder by a link.

    The caller must manage it. The share ends when the caller no longer does.
    """
    made = get_service(Shares).links.create(tenant_id, file_id, body)
    path = f"/api/v1/tenants/{tenant_id}/shares/{made.link.id}"
    return _share(made), 201, {"Location": f"{current_host().public_url}{path}"}


@routes.operation(
    "GET",
    _OF_FILE,
    access=Access.USER,
    scope=Scope.FILES_SHARE,
    query=PagingQuery,
    returns=collection_schema(ShareSchema),
    errors=(FORBIDDEN,),
)
def list_shares_of_file(tenant_id: str, file_id: str, query: Json) -> Any:
    """List the shares of a file or folder that the caller manages, the newest first.

    All its shares are listed, of other makers as well. Shares that have ended stay for a time that
    the server's configuration sets.
    """
    page = get_service(Shares).links.of_file(tenant_id, file_id, query)
    return current_host().lists.collection(page.map(_share), query)


@routes.operation(
    "GET",
    _OF_TENANT,
    access=Access.USER,
    query=SharesQuery,
    returns=collection_schema(ShareSchema),
    errors=(FORBIDDEN,),
)
def list_shares(tenant_id: str, query: Json) -> Any:
    """List the caller's shares, the newest first; for administrators of the tenant, all shares.

    `stale=true` lists those that cannot be opened, among the newest 1,000.
    """
    page = get_service(Shares).links.of_tenant(tenant_id, query)
    return current_host().lists.collection(page.map(_share), query)


@routes.operation(
    "GET",
    _ONE,
    access=Access.USER,
    scope=Scope.FILES_SHARE,
    returns=ShareSchema,
    errors=(UNKNOWN,),
)
def get_share(tenant_id: str, share_id: str) -> Json:
    """Get a share.

    For its maker, administrators of the tenant, and other users who manage the file; 404 for
    others. `url` has the link, if the server keeps it readable.
    """
    return _share(get_service(Shares).links.get(tenant_id, share_id))


@routes.operation(
    "PATCH",
    _ONE,
    access=Access.USER,
    scope=Scope.FILES_SHARE,
    body=ShareChangesSchema,
    returns=ShareSchema,
    errors=(UNKNOWN, FORBIDDEN, CREATOR_ONLY, POLICY, OUTDATED),
)
def update_share(tenant_id: str, share_id: str, body: Json, revision: int | None) -> Json:
    """Change a share. A new password ends all proofs of the former one.

    Other users than its maker and tenant administrators can only tighten or close it. What an access
    key loosens ends with the key.
    """
    return _share(get_service(Shares).links.update(tenant_id, share_id, body, revision))


@routes.operation(
    "DELETE",
    _ONE,
    access=Access.USER,
    scope=Scope.FILES_SHARE,
    returns=DoneSchema,
    errors=(UNKNOWN, OUTDATED),
)
def delete_share(tenant_id: str, share_id: str, revision: int | None) -> Json:
    """Delete a share with its records. Dropped files remain.

    Users who may read the share may delete it. The link no longer works from the next request on.
    """
    get_service(Shares).links.delete(tenant_id, share_id, revision)
    return {"success": True}


@routes.operation(
    "GET",
    f"{_ONE}/openings",
    access=Access.USER,
    scope=Scope.FILES_SHARE,
    query=OpeningsQuery,
    returns=collection_schema(OpeningSchema),
    compress=True,
    errors=(UNKNOWN,),
)
def list_share_openings(tenant_id: str, share_id: str, query: Json) -> Any:
    """List what visitors opened, downloaded and dropped, the newest first.

    For the users who may read the share. Addresses are shortened, and records are deleted after a
    time that the server's configuration sets.
    """
    link = get_service(Shares).links.get(tenant_id, share_id).link
    return current_host().lists.collection(get_service(Shares).access_log.page(link, query), query)


@routes.operation(
    "GET",
    "/api/v1/shared-with-me",
    access=Access.USER,
    query=PagingQuery,
    returns=collection_schema(SharedWithMeSchema),
)
def list_shared_with_me(query: Json) -> Any:
    """List the open shares for the caller: as a named user, or as a member of a tenant.

    Shares with a password are listed without their label and name.
    """
    return current_host().lists.collection(get_service(Shares).links.with_me(query).map(_with_me), query)


@routes.operation("GET", _POLICY, access=Access.USER, returns=PolicySchema, errors=(FORBIDDEN,))
def get_share_policy(tenant_id: str) -> Policy:
    """Get the rules of shares in a tenant.

    For all members of the tenant: the stricter of the tenant's and the server's rules.
    """
    return get_service(Shares).policies.get(tenant_id)


@routes.operation(
    "PUT",
    _POLICY,
    access=Access.USER,
    body=PolicyChangesSchema,
    returns=PolicySchema,
    errors=(FORBIDDEN,),
)
def put_share_policy(tenant_id: str, body: Json) -> Policy:
    """Replace the tenant's own rules. They can only be stricter than the server's.

    Only administrators of the tenant may. Absent or null members are the server's rules. Existing
    shares of a kind that is no longer allowed, or without a required password, cannot be opened.
    The response has the rules in force.
    """
    return get_service(Shares).policies.put(tenant_id, body)


def url_of(host: HostAPI, secret: str | None) -> str | None:
    """Return the URL of a share for visitors."""
    return None if secret is None else f"{host.public_url}/s/{secret}"


def _share(shared: SharedLink) -> Json:
    link = shared.link
    return {
        "id": link.id,
        "tenantId": link.tenant_id,
        "fileId": link.file_id,
        "makerId": link.creator_id,
        "url": url_of(current_host(), shared.secret),
        "kind": link.kind,
        "label": link.label,
        "state": shared.state.value,
        "closed": shared.state is State.CLOSED,
        "hasPassword": link.password_hash is not None,
        "expiresAt": link.expires_at,
        "maxDownloads": link.max_downloads,
        "downloads": link.downloads,
        "audience": (link.audience, shared.user_ids),
        "notify": link.notify,
        "drop": link,
        "droppedFiles": link.dropped_files,
        "droppedBytes": link.dropped_bytes,
        "openedAt": link.opened_at,
        "revision": link.revision,
        "createdAt": link.created_at,
        "updatedAt": link.updated_at,
    }


def _with_me(shared: SharedLink) -> Json:
    link = shared.link
    name = shared.file.name if shared.file and link.password_hash is None else None
    return {
        "id": link.id,
        "tenantId": link.tenant_id,
        "makerId": link.creator_id,
        "url": url_of(current_host(), shared.secret),
        "kind": link.kind,
        "label": link.label if name is not None else "",
        "needsPassword": link.password_hash is not None,
        "name": name,
        "expiresAt": link.expires_at,
        "createdAt": link.created_at,
    }
