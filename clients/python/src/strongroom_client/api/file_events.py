"""Operations on file events. Written by clients/python/generate_client.py from the OpenAPI document."""

import datetime

from ..models import FileEventCollection, ListFileEventsAction
from ..operations import UNSET, Operation, Unset, segment


def list_file_events(
    tenant_id: str,
    *,
    page_size: int | Unset = UNSET,
    page_number: int | Unset = UNSET,
    cursor: None | str | Unset = UNSET,
    node_id: str | Unset = UNSET,
    actor_id: str | Unset = UNSET,
    action: ListFileEventsAction | Unset = UNSET,
    from_: datetime.datetime | Unset = UNSET,
    to: datetime.datetime | Unset = UNSET,
) -> Operation[FileEventCollection]:
    """List the actions on a tenant's files, newest first, for its administrators.

    Downloads appear about a second after they start.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/file-events",
        FileEventCollection,
        query={
            "pageSize": page_size,
            "pageNumber": page_number,
            "cursor": cursor,
            "nodeId": node_id,
            "actorId": actor_id,
            "action": action,
            "from": from_,
            "to": to,
        },
    )
