"""Operations on consents. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Consents, Done
from ..operations import Operation, segment


def list_consents(
    user_id: str,
) -> Operation[Consents]:
    """List the clients that a user has let do something, by name.

    For the user, and for administrators. Trusted clients need no consent.
    """
    return Operation(
        "GET",
        f"/api/v1/users/{segment(user_id)}/consents",
        Consents,
    )


def withdraw_consent(
    user_id: str,
    client_id: str,
) -> Operation[Done]:
    """Withdraw the consent to a client, whose tokens for the user end at once.

    For the user, and for administrators.
    """
    return Operation(
        "DELETE",
        f"/api/v1/users/{segment(user_id)}/consents/{segment(client_id)}",
        Done,
    )
