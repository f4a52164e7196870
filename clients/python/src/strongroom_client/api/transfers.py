"""Operations on transfers. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import Successor, Transferred
from ..operations import Operation, segment


def transfer_member(
    tenant_id: str,
    user_id: str,
    *,
    body: Successor,
) -> Operation[Transferred]:
    """Make another member the owner of all files and folders of a user, and the holder of all grants.

    For administrators of the tenant, before or after the user leaves it. The user's memberships stay. If
    the request is interrupted, repeating it continues the transfer.
    """
    return Operation(
        "POST",
        f"/api/v1/tenants/{segment(tenant_id)}/members/{segment(user_id)}/transfer",
        Transferred,
        body=body,
    )
