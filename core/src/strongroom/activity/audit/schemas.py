"""The request and response schemas of audit events."""

from marshmallow import Schema, fields, validate

from strongroom.activity.audit.outcomes import FAILURE, SUCCESS
from strongroom.web.http.pages import PagingQuery, ReferenceSchema
from strongroom.web.http.parsing import Timestamp, identifier, text

_OUTCOMES = (SUCCESS, FAILURE)


class AuditQuery(PagingQuery):
    """The filters of a list; a record must match all of them."""

    action = text(64, metadata={"description": "The action, such as `login`"})
    outcome = fields.String(validate=validate.OneOf(_OUTCOMES), metadata={"description": "The outcome"})
    actorId = identifier(attribute="actor_id", metadata={"description": "The id of the acting user"})
    targetType = text(32, attribute="target_type", metadata={"description": "The type of the target"})
    targetId = text(255, attribute="target_id", metadata={"description": "The id of the target"})
    address = text(64, metadata={"description": "The client's address, exactly as recorded"})
    since = Timestamp(metadata={"description": "At this time or later, as `2026-06-21T00:00:00Z`"})
    until = Timestamp(metadata={"description": "Before this time, as `2026-06-22T00:00:00Z`"})


class TargetSchema(Schema):
    """The object of an action."""

    type = fields.String(required=True, allow_none=True)
    id = fields.String(required=True)


class AuditEventSchema(Schema):
    """An audit record."""

    id = fields.String(
        required=True,
        attribute="sequence",
        metadata={"description": "The sequence number, counted from 1"},
    )
    at = Timestamp(required=True)
    action = fields.String(required=True)
    outcome = fields.String(required=True, validate=validate.OneOf(_OUTCOMES))
    actor = fields.Nested(
        ReferenceSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Null if the actor is unknown"},
    )
    target = fields.Nested(TargetSchema, required=True, allow_none=True)
    address = fields.String(required=True, allow_none=True)
    userAgent = fields.String(required=True, allow_none=True, attribute="user_agent")
    requestId = fields.String(required=True, allow_none=True, attribute="request_id")
    details = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
