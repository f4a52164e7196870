"""Operations on client actions. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import AuditEventCollection
from ..operations import UNSET, Operation, Unset, segment


def list_client_actions(
    user_id: str,
    client_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
) -> Operation[AuditEventCollection]:
    """List what a client has done for the caller (`me`), newest first.

    The audit log has these records; the newest 10,000 actions of the caller are searched.
    """
    return Operation(
        "GET",
        f"/users/{segment(user_id)}/client-actions/{segment(client_id)}",
        AuditEventCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
        },
    )
