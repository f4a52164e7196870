"""What clients send and get."""

from marshmallow import Schema, fields, validate

from strongroom.audit.models import FAILURE, SUCCESS
from strongroom.web.envelope import PagingQuery, ReferenceSchema
from strongroom.web.schema import Timestamp, text

_OUTCOMES = (SUCCESS, FAILURE)


class AuditQuery(PagingQuery):
    """Which records are wanted: those to which all that is given applies."""

    action = text(64, metadata={"description": "What was done, such as `login`"})
    outcome = fields.String(validate=validate.OneOf(_OUTCOMES), metadata={"description": "How it ended"})
    actorId = text(36, attribute="actor_id", metadata={"description": "Who did it: the id of a user"})
    targetType = text(
        32, attribute="target_type", metadata={"description": "The kind of thing it was done to"}
    )
    targetId = text(255, attribute="target_id", metadata={"description": "The thing it was done to"})
    address = text(64, metadata={"description": "The client's address, exactly as recorded"})
    since = Timestamp(metadata={"description": "At this time or later, as `2026-06-21T00:00:00Z`"})
    until = Timestamp(metadata={"description": "Before this time, as `2026-06-22T00:00:00Z`"})


class TargetSchema(Schema):
    """What something was done to."""

    type = fields.String(required=True, allow_none=True)
    id = fields.String(required=True)


class AuditEventSchema(Schema):
    """A record of what happened."""

    id = fields.String(
        required=True, attribute="sequence", metadata={"description": "Its number, counted from 1"}
    )
    at = Timestamp(required=True)
    action = fields.String(required=True)
    outcome = fields.String(required=True, validate=validate.OneOf(_OUTCOMES))
    actor = fields.Nested(
        ReferenceSchema, required=True, allow_none=True, metadata={"description": "Null: nobody known"}
    )
    target = fields.Nested(TargetSchema, required=True, allow_none=True)
    address = fields.String(required=True, allow_none=True)
    userAgent = fields.String(required=True, allow_none=True, attribute="user_agent")
    requestId = fields.String(required=True, allow_none=True, attribute="request_id")
    details = fields.Dict(keys=fields.String(), values=fields.String(), required=True)
