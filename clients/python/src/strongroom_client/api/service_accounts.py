"""Operations on service accounts. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    AccessKeyCollection,
    CreatedKey,
    Done,
    NewServiceAccount,
    NewServiceKey,
    Rotation,
    ServiceAccount,
    ServiceAccountCollection,
)
from ..operations import UNSET, Operation, Unset, segment


def create_service_account(
    tenant_id: str,
    *,
    body: NewServiceAccount,
    idempotency_key: str | Unset = UNSET,
) -> Operation[ServiceAccount]:
    """Create a service account, which becomes a member of the tenant. It can never log in.

    Only administrators of the tenant may. Its role is `member`; it needs grants like any other member,
    and an access key for its requests.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/service-accounts",
        ServiceAccount,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def create_service_account_key(
    tenant_id: str,
    account_id: str,
    *,
    body: NewServiceKey,
    idempotency_key: str | Unset = UNSET,
) -> Operation[CreatedKey]:
    """Create an access key of a service account, limited to the tenant.

    Requires a proof of the calling administrator, as for a key of the caller.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/service-accounts/{segment(account_id)}/access-keys",
        CreatedKey,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def delete_service_account(
    tenant_id: str,
    account_id: str,
) -> Operation[Done]:
    """Delete a service account with its access keys. Its files stay with the tenant.

    For administrators of the tenant. Requests with its keys are refused from the next one on.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/service-accounts/{segment(account_id)}",
        Done,
    )


def get_service_account(
    tenant_id: str,
    account_id: str,
) -> Operation[ServiceAccount]:
    """Get a service account.

    For administrators of the tenant. Its access keys are listed by `listServiceAccountKeys`.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/service-accounts/{segment(account_id)}",
        ServiceAccount,
    )


def list_service_account_keys(
    tenant_id: str,
    account_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[AccessKeyCollection]:
    """List the access keys of a service account, newest first.

    For administrators of the tenant. The secrets are not included: only the response that creates or
    rotates a key has one.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/service-accounts/{segment(account_id)}/access-keys",
        AccessKeyCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def list_service_accounts(
    tenant_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[ServiceAccountCollection]:
    """List the service accounts of a tenant, oldest first.

    For administrators of the tenant. Access keys are not included.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/service-accounts",
        ServiceAccountCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def revoke_service_account_key(
    tenant_id: str,
    account_id: str,
    key_id: str,
) -> Operation[Done]:
    """Revoke an access key of a service account. It is refused from the next request on.

    For administrators of the tenant. The account and its other keys stay.
    """
    return Operation(
        "DELETE",
        f"/api/v1/tenants/{segment(tenant_id)}/service-accounts/{segment(account_id)}/access-keys/{segment(key_id)}",
        Done,
    )


def rotate_service_account_key(
    tenant_id: str,
    account_id: str,
    key_id: str,
    *,
    body: Rotation | Unset = UNSET,
) -> Operation[CreatedKey]:
    """Give an access key of a service account a new secret and a new end.

    For administrators of the tenant, with the proof that a new key needs. Only this response has the
    new secret; the old secret stays valid for `overlapSeconds`.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/service-accounts/{segment(account_id)}/access-keys/{segment(key_id)}/rotate",
        CreatedKey,
        body=body,
    )
