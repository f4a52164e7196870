"""Endpoint that lists file events."""

from typing import Any

from strongroom.errors import Forbidden
from strongroom.files.events.listing import FileEventFilter, FileEventListing
from strongroom.files.events.models import FileEvent
from strongroom.files.events.schemas import FileEventQuery, FileEventSchema
from strongroom.http.access import Access, current_identity
from strongroom.http.pages import collection_of, envelope, paging, reference
from strongroom.http.request import get_service
from strongroom.http.routing import Blueprint

blueprint = Blueprint(
    "file events",
    __name__,
    url_prefix="/api/v1/tenants/<tenant_id>/file-events",
    description="History of actions on tenants' files.",
)


@blueprint.operation(
    "GET",
    "",
    access=Access.USER,
    query=FileEventQuery,
    returns=collection_of(FileEventSchema),
    errors=(Forbidden,),
)
def list_file_events(tenant_id: str, query: dict[str, Any]) -> dict[str, Any]:
    """List the actions on a tenant's files, newest first, for its administrators.

    Downloads appear about a second after they start.
    """
    wanted = FileEventFilter(
        **{name: query[name] for name in FileEventFilter.__slots__ if name in query}
    )
    listing = get_service(FileEventListing)
    page, included = listing.page(current_identity(), tenant_id, wanted, paging(query))
    return envelope(page, _present, included)


def _present(event: FileEvent) -> dict[str, Any]:
    return {
        "id": event.id,
        "at": event.at,
        "tenantId": event.tenant_id,
        "nodeId": event.node_id,
        "action": event.action,
        "actor": reference(event.actor_id),
        "address": event.address,
        "name": event.name,
        "parentId": event.parent_id,
        "size": event.size,
    }
