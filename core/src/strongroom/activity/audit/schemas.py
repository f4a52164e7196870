"""The request and response schemas of audit events."""

from marshmallow import Schema, fields, validate

from strongroom.activity.audit.outcomes import FAILURE, SUCCESS
from strongroom.plugin_api.schemas import PagingQuery, ReferenceSchema, Timestamp
from strongroom.web.http.parsing import identifier, text

_OUTCOMES = (SUCCESS, FAILURE)


class AuditQuery(PagingQuery):
    """The filters of a list; a record must match all of them."""

    action = text(64, metadata={"description": "The action, such as `login`"})
    outcome = fields.String(
        validate=validate.OneOf(_OUTCOMES),
        metadata={
            "description": "Only actions that succeeded, or only those that failed or were refused"
        },
    )
    actorId = identifier(
        attribute="actor_id", metadata={"description": "Only actions of this user, by the id"}
    )
    targetType = text(
        32,
        attribute="target_type",
        metadata={"description": "Only actions on objects of this type, such as `user`"},
    )
    targetId = text(
        255, attribute="target_id", metadata={"description": "Only actions on the object with this id"}
    )
    address = text(64, metadata={"description": "The client's address, exactly as recorded"})
    since = Timestamp(metadata={"description": "At this time or later, as `2026-06-21T00:00:00Z`"})
    until = Timestamp(metadata={"description": "Before this time, as `2026-06-22T00:00:00Z`"})


class TargetSchema(Schema):
    """The object of an action."""

    type = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Such as `user` or `tenant`; `null`: the action has no type of objects"
        },
    )
    id = fields.String(required=True, metadata={"description": "Id of an object of the type"})


class AuditEventSchema(Schema):
    """An audit record."""

    id = fields.String(
        required=True,
        attribute="sequence",
        metadata={"description": "The sequence number, counted from 1"},
    )
    at = Timestamp(required=True, metadata={"description": "When it happened, in UTC"})
    action = fields.String(
        required=True, metadata={"description": "What was done, such as `user.create`"}
    )
    outcome = fields.String(
        required=True,
        validate=validate.OneOf(_OUTCOMES),
        metadata={"description": "Whether it succeeded; `failure` includes refusals"},
    )
    actor = fields.Nested(
        ReferenceSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Null if the actor is unknown"},
    )
    target = fields.Nested(
        TargetSchema,
        required=True,
        allow_none=True,
        metadata={"description": "What it was done to; `null`: nothing in particular"},
    )
    address = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The IP address of the client; `null`: not caused by a request"},
    )
    userAgent = fields.String(
        required=True,
        allow_none=True,
        attribute="user_agent",
        metadata={"description": "The `User-Agent` header of the request, if there was one"},
    )
    requestId = fields.String(
        required=True,
        allow_none=True,
        attribute="request_id",
        metadata={"description": "`X-Request-Id` of the request, which is in the server's log, too"},
    )
    details = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        required=True,
        metadata={
            "description": "What the action was about, as texts by name; it depends on the action"
        },
    )
