"""Endpoint that lists file events."""

from typing import Any

from marshmallow import Schema, fields, validate

from strongroom.content.nodes import operations
from strongroom.content.nodes.events import FileAction, FileEvent
from strongroom.extensions.events.listing import FileEventFilter, FileEventListing
from strongroom.foundation.errors import Forbidden
from strongroom.plugin_api.schemas import PagingQuery, ReferenceSchema, Timestamp, collection_schema
from strongroom.web.http.access import Access, current_identity
from strongroom.web.http.paging import envelope, paging, reference
from strongroom.web.http.parsing import identifier
from strongroom.web.http.request import get_service
from strongroom.web.http.routing import Blueprint

_ACTIONS = [action.value for action in FileAction]


class FileEventQuery(PagingQuery):
    """Filters of file events; events must match all given filters."""

    nodeId = identifier(attribute="node_id", metadata={"description": "The file or folder"})
    actorId = identifier(attribute="actor_id", metadata={"description": "The user who acted"})
    action = fields.String(
        validate=validate.OneOf(_ACTIONS), metadata={"description": "Only this kind of action"}
    )
    since = Timestamp(
        data_key="from", metadata={"description": "At this time or later, as `2026-06-21T00:00:00Z`"}
    )
    until = Timestamp(
        data_key="to", metadata={"description": "Before this time, as `2026-06-22T00:00:00Z`"}
    )


class FileEventSchema(Schema):
    """An action on a file or folder; name, folder and size are those after the action."""

    id = fields.String(required=True, metadata={"description": "Identifies the event"})
    at = Timestamp(required=True, metadata={"description": "When it happened, in UTC"})
    tenantId = fields.String(required=True, metadata={"description": "The tenant of the file"})
    nodeId = fields.String(
        required=True, metadata={"description": "Id of the file or folder, which may be deleted now"}
    )
    action = fields.String(
        required=True,
        validate=validate.OneOf(_ACTIONS),
        metadata={"description": "What was done, such as `file.downloaded`"},
    )
    actor = fields.Nested(
        ReferenceSchema,
        required=True,
        metadata={"description": "The user who acted; the name is in `included`"},
    )
    onBehalfOf = fields.Nested(
        ReferenceSchema,
        required=True,
        allow_none=True,
        metadata={"description": "The impersonated user; the actor is then an administrator"},
    )
    plugin = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "The plugin that used the rights of the actor for another person, such as "
            "`share_links` for a visitor; null: the actor acted"
        },
    )
    address = fields.String(
        required=True, allow_none=True, metadata={"description": "The client's address"}
    )
    name = fields.String(required=True, metadata={"description": "Name of the file or folder"})
    parentId = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The folder that it is in; null: the top level"},
    )
    size = fields.Integer(required=True, metadata={"description": "In bytes; 0 for folders"})


blueprint = Blueprint(
    "file events",
    url_prefix="/api/v1/tenants/<tenant_id>/file-events",
    description="History of actions on tenants' files.",
)


@blueprint.operation(
    "GET",
    "",
    access=Access.USER,
    rule=operations.LIST_EVENTS,
    query=FileEventQuery,
    returns=collection_schema(FileEventSchema),
    compress=True,
    errors=(Forbidden,),
)
def list_file_events(tenant_id: str, query: dict[str, Any]) -> dict[str, Any]:
    """List the actions on a tenant's files, newest first, for its administrators.

    Downloads appear about a second after they start.
    """
    chosen = FileEventFilter(
        **{name: query[name] for name in FileEventFilter.__slots__ if name in query}
    )
    listing = get_service(FileEventListing)
    page, included = listing.page(current_identity(), tenant_id, chosen, paging(query))
    return envelope(page, _serialize, included)


def _serialize(event: FileEvent) -> dict[str, Any]:
    return {
        "id": event.id,
        "at": event.at,
        "tenantId": event.tenant_id,
        "nodeId": event.node_id,
        "action": event.action,
        "actor": reference(event.actor_id),
        "onBehalfOf": event.on_behalf_of and reference(event.on_behalf_of),
        "plugin": event.plugin,
        "address": event.address,
        "name": event.name,
        "parentId": event.parent_id,
        "size": event.size,
    }
