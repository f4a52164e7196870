"""Operations on audit. Written by clients/python/generate_client.py from the OpenAPI document."""

import datetime

from ..models import AuditEventCollection, ListAuditEventsOutcome
from ..operations import UNSET, Operation, Unset


def list_audit_events(
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    action: str | Unset = UNSET,
    outcome: ListAuditEventsOutcome | Unset = UNSET,
    actor_id: str | Unset = UNSET,
    target_type: str | Unset = UNSET,
    target_id: str | Unset = UNSET,
    address: str | Unset = UNSET,
    since: datetime.datetime | Unset = UNSET,
    until: datetime.datetime | Unset = UNSET,
) -> Operation[AuditEventCollection]:
    """List audit events, newest first; an event must match all given filters.

    For administrators of the server. A record has the actor, the target and the address of the client,
    as far as they are known.
    """
    return Operation(
        "GET",
        "/audit-events",
        AuditEventCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "action": action,
            "outcome": outcome,
            "actorId": actor_id,
            "targetType": target_type,
            "targetId": target_id,
            "address": address,
            "since": since,
            "until": until,
        },
    )
