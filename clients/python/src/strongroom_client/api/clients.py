"""Operations on clients. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    Client,
    ClientChanges,
    ClientCollection,
    ClientSecret,
    ClientSecretRotation,
    Done,
    NewClient,
    NewClientWithSecret,
)
from ..operations import UNSET, Operation, Unset, segment


def create_client(
    *,
    body: NewClient,
    idempotency_key: str | Unset = UNSET,
) -> Operation[NewClientWithSecret]:
    """Create a client; the answer alone has its secret."""
    return Operation(
        "POST",
        "/api/v1/clients",
        NewClientWithSecret,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def delete_client(
    client_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Done]:
    """Delete a client. It cannot be undone."""
    return Operation(
        "DELETE",
        f"/api/v1/clients/{segment(client_id)}",
        Done,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def get_client(
    client_id: str,
    *,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Client]:
    """Get a client.

    Its secret is not included; a lost one is replaced by `rotateClientSecret`.
    """
    return Operation(
        "GET",
        f"/api/v1/clients/{segment(client_id)}",
        Client,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
    )


def list_clients(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[ClientCollection]:
    """List the clients, the oldest first. Secrets are not included."""
    return Operation(
        "GET",
        "/api/v1/clients",
        ClientCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def rotate_client_secret(
    client_id: str,
    *,
    body: ClientSecretRotation | Unset = UNSET,
) -> Operation[ClientSecret]:
    """Create a new secret; the former one remains valid for a time.

    At most two secrets are valid: a further rotation ends the oldest one at once.
    """
    return Operation(
        "POST",
        f"/api/v1/clients/{segment(client_id)}/rotate-secret",
        ClientSecret,
        body=body,
    )


def update_client(
    client_id: str,
    *,
    body: ClientChanges,
    if_match: str | Unset = UNSET,
    if_none_match: str | Unset = UNSET,
) -> Operation[Client]:
    """Change a client.

    Grants that exist keep their scopes; delete the client to end them.
    """
    return Operation(
        "PATCH",
        f"/api/v1/clients/{segment(client_id)}",
        Client,
        headers={
            "If-Match": if_match,
            "If-None-Match": if_none_match,
        },
        body=body,
    )
