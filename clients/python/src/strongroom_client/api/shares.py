"""Operations on shares. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Done,
    ListShareOpeningsWhatType0,
    NewShare,
    OpeningCollection,
    Policy,
    PolicyChanges,
    Share,
    ShareChanges,
    ShareCollection,
    SharedWithMeCollection,
)
from ..operations import UNSET, Operation, Unset, segment


def create_share(
    tenant_id: str,
    file_id: str,
    *,
    body: NewShare,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Share]:
    """Share a file or folder by a link.

    The caller must manage it. The share ends when the caller no longer does.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/shares",
        Share,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def delete_share(
    tenant_id: str,
    share_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Done]:
    """Delete a share with its records. Dropped files remain.

    Users who may read the share may delete it. The link no longer works from the next request on.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/shares/{segment(share_id)}",
        Done,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def get_share(
    tenant_id: str,
    share_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Share]:
    """Get a share.

    For its maker, administrators of the tenant, and other users who manage the file; 404 for
    others. `url` has the link, if the server keeps it readable.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/shares/{segment(share_id)}",
        Share,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def get_share_policy(
    tenant_id: str,
) -> Operation[Policy]:
    """Get the rules of shares in a tenant.

    For all members of the tenant: the stricter of the tenant's and the server's rules.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/share-policy",
        Policy,
    )


def list_share_openings(
    tenant_id: str,
    share_id: str,
    *,
    what: ListShareOpeningsWhatType0 | None | Unset = UNSET,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[OpeningCollection]:
    """List what visitors opened, downloaded and dropped, the newest first.

    For the users who may read the share. Addresses are shortened, and records are deleted after a
    time that the server's configuration sets.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/shares/{segment(share_id)}/openings",
        OpeningCollection,
        query={
            "what": what,
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def list_shared_with_me(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[SharedWithMeCollection]:
    """List the open shares for the caller: as a named user, or as a member of a tenant.

    Shares with a password are listed without their label and name.
    """
    return Operation(
        "GET",
        "/api/v1/shared-with-me",
        SharedWithMeCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def list_shares(
    tenant_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    stale: bool | None | Unset = UNSET,
) -> Operation[ShareCollection]:
    """List the caller's shares, the newest first; for administrators of the tenant, all shares.

    `stale=true` lists those that cannot be opened, among the newest 1,000.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/shares",
        ShareCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "stale": stale,
        },
    )


def list_shares_of_file(
    tenant_id: str,
    file_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[ShareCollection]:
    """List the shares of a file or folder that the caller manages, the newest first.

    All its shares are listed, of other makers as well. Shares that have ended stay for a time that
    the server's configuration sets.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/files/{segment(file_id)}/shares",
        ShareCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def put_share_policy(
    tenant_id: str,
    *,
    body: PolicyChanges | Unset = UNSET,
) -> Operation[Policy]:
    """Replace the tenant's own rules. They can only be stricter than the server's.

    Only administrators of the tenant may. Absent or null members are the server's rules. Existing
    shares of a kind that is no longer allowed, or without a required password, cannot be opened.
    The response has the rules in force.
    """
    return Operation(
        "PUT",
        f"/api/v1/tenants/{segment(tenant_id)}/share-policy",
        Policy,
        body=body,
    )


def update_share(
    tenant_id: str,
    share_id: str,
    *,
    body: ShareChanges | Unset = UNSET,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Share]:
    """Change a share. A new password ends all proofs of the former one.

    Other users than its maker and tenant administrators can only tighten or close it. What an access
    key loosens ends with the key.
    """
    return Operation(
        "PATCH",
        f"/api/v1/tenants/{segment(tenant_id)}/shares/{segment(share_id)}",
        Share,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        body=body,
    )
