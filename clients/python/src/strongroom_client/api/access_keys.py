"""Operations on access keys. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import (
    AccessKey,
    AccessKeyCollection,
    CreatedKey,
    Done,
    KeyChange,
    LeakedKeys,
    NewKey,
    RevokedKeys,
    Rotation,
)
from ..operations import UNSET, Operation, Unset, segment


def create_access_key(
    user_id: str,
    *,
    body: NewKey,
    idempotency_key: str | Unset = UNSET,
) -> Operation[CreatedKey]:
    """Create an access key of the caller (`me`). Only this response contains the key.

    Administrators create keys of service accounts of the server, too.

    Requires a code for `bind`, the current password, or a login within the last 10 minutes.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/access-keys",
        CreatedKey,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )


def get_access_key(
    user_id: str,
    key_id: str,
) -> Operation[AccessKey]:
    """Get an access key of a user, without its secret.

    For the user and for administrators. `lastUsedAt` and `lastUsedFrom` show whether it is still in use.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/access-keys/{segment(key_id)}",
        AccessKey,
    )


def list_access_keys(
    user_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[AccessKeyCollection]:
    """List the access keys of a user, newest first; expired ones for a month.

    For the user and for administrators. The secret of a key is in no list: only the response that
    creates or rotates it has it.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/access-keys",
        AccessKeyCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )


def rename_access_key(
    user_id: str,
    key_id: str,
    *,
    body: KeyChange,
) -> Operation[AccessKey]:
    """Rename an access key of the caller. For other limits, create another key.

    Administrators rename keys of service accounts of the server, too. The key itself stays valid.
    """
    return Operation(
        "PATCH",
        f"/users/{segment(user_id)}/access-keys/{segment(key_id)}",
        AccessKey,
        body=body,
    )


def report_leaked_keys(
    *,
    body: LeakedKeys,
) -> Operation[RevokedKeys]:
    """Revoke access keys that were found in a public place, and notify their users.

    The whole key is the permission to revoke it, so scanners for secrets need no account.
    """
    return Operation(
        "POST",
        "/api/v1/leaked-keys",
        RevokedKeys,
        body=body,
    )


def revoke_access_key(
    user_id: str,
    key_id: str,
) -> Operation[Done]:
    """Revoke an access key. It is refused from the next request on.

    For the user and for administrators. It cannot be restored: create another key instead.
    """
    return Operation(
        "DELETE",
        f"/users/{segment(user_id)}/access-keys/{segment(key_id)}",
        Done,
    )


def rotate_access_key(
    user_id: str,
    key_id: str,
    *,
    body: Rotation | Unset = UNSET,
) -> Operation[CreatedKey]:
    """Give an access key of the caller a new secret and a new end. The previous secret may overlap.

    Requires the same proof as its creation.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/access-keys/{segment(key_id)}/rotate",
        CreatedKey,
        body=body,
    )
