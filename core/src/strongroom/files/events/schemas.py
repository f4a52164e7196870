"""Request and response schemas of file events."""

from marshmallow import Schema, fields, validate

from strongroom.files.events.models import FileAction
from strongroom.http.pages import PagingQuery, ReferenceSchema
from strongroom.http.parsing import Timestamp, text

_ACTIONS = [action.value for action in FileAction]


class FileEventQuery(PagingQuery):
    """Filters of file events; events must match all given filters."""

    nodeId = text(36, attribute="node_id", metadata={"description": "The file or folder"})
    actorId = text(36, attribute="actor_id", metadata={"description": "The user who acted"})
    action = fields.String(validate=validate.OneOf(_ACTIONS))
    since = Timestamp(
        data_key="from", metadata={"description": "At this time or later, as `2026-06-21T00:00:00Z`"}
    )
    until = Timestamp(
        data_key="to", metadata={"description": "Before this time, as `2026-06-22T00:00:00Z`"}
    )


class FileEventSchema(Schema):
    """An action on a file or folder; name, folder and size are those after the action."""

    id = fields.String(required=True)
    at = Timestamp(required=True)
    tenantId = fields.String(required=True)
    nodeId = fields.String(required=True)
    action = fields.String(required=True, validate=validate.OneOf(_ACTIONS))
    actor = fields.Nested(ReferenceSchema, required=True)
    address = fields.String(
        required=True, allow_none=True, metadata={"description": "The client's address"}
    )
    name = fields.String(required=True)
    parentId = fields.String(required=True, allow_none=True)
    size = fields.Integer(required=True, metadata={"description": "In bytes; 0 for folders"})
