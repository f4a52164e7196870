"""Operations on impersonation. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Impersonation, NewImpersonation
from ..operations import UNSET, Operation, Unset, segment


def impersonate_user(
    user_id: str,
    *,
    body: NewImpersonation,
    idempotency_key: str | Unset = UNSET,
) -> Operation[Impersonation]:
    """Get an access token that reads as an ordinary user does, and changes nothing.

    Its claim `act` names the caller (RFC 8693, section 4.1). It cannot be renewed. The user sees it in
    the list of logins, and can end it.
    """
    return Operation(
        "POST",
        f"/users/{segment(user_id)}/impersonation",
        Impersonation,
        headers={
            "Idempotency-Key": idempotency_key,
        },
        body=body,
    )
