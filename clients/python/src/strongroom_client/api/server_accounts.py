"""Operations on server accounts. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Done, NewServiceAccount, ServiceAccount, ServiceAccountCollection
from ..operations import UNSET, Operation, Unset, segment


def create_server_account(
    *,
    body: NewServiceAccount,
    idempotency_key: str | Unset = UNSET,
) -> Operation[ServiceAccount]:
    """Create a service account of the server. It can never log in; it acts by access keys only.

    Administrators create its keys by `POST /users/{userId}/access-keys`.
    """
    return Operation(
        "POST",
        "/api/v1/service-accounts",
        ServiceAccount,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def delete_server_account(
    account_id: str,
) -> Operation[Done]:
    """Delete a service account of the server with its access keys.

    For administrators. Requests with its keys are refused at once. It cannot be restored.
    """
    return Operation(
        "DELETE",
        f"/api/v1/service-accounts/{segment(account_id)}",
        Done,
    )


def get_server_account(
    account_id: str,
) -> Operation[ServiceAccount]:
    """Get a service account of the server.

    For administrators. 404 for the service account of a tenant.
    """
    return Operation(
        "GET",
        f"/api/v1/service-accounts/{segment(account_id)}",
        ServiceAccount,
    )


def list_server_accounts(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[ServiceAccountCollection]:
    """List the service accounts of the server, oldest first.

    For administrators. Service accounts of tenants are not among them: each tenant lists its own.
    """
    return Operation(
        "GET",
        "/api/v1/service-accounts",
        ServiceAccountCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def rename_server_account(
    account_id: str,
    *,
    body: NewServiceAccount,
) -> Operation[ServiceAccount]:
    """Rename a service account of the server.

    For administrators. The keys of the account stay valid.
    """
    return Operation(
        "PATCH",
        f"/api/v1/service-accounts/{segment(account_id)}",
        ServiceAccount,
        body=body,
    )
