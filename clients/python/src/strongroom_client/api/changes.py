"""Operations on changes. Written by clients/python/generate_client.py from the OpenAPI document."""

from ..models import ChangeCollection
from ..operations import UNSET, Operation, Unset, segment


def list_changes(
    tenant_id: str,
    *,
    cursor: int | Unset = UNSET,
    page_size: int | Unset = UNSET,
    wait: int | Unset = UNSET,
    last_event_id: str | Unset = UNSET,
) -> Operation[ChangeCollection]:
    """List the changes of a tenant's files that the caller can see, the oldest first.

    With `wait`, a page that would be empty is sent as soon as there is a change, or when the time is
    over. With `Accept: text/event-stream`, the changes are sent as server-sent events: `change` with a
    record, `reset` if the cursor has expired, and `reconnect` before the server ends the stream.
    """
    return Operation(
        "GET",
        f"/api/v1/tenants/{segment(tenant_id)}/changes",
        ChangeCollection,
        query={
            "cursor": cursor,
            "pageSize": page_size,
            "wait": wait,
        },
        headers={
            "Last-Event-ID": last_event_id,
        },
    )
