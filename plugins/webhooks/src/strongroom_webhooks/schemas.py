"""JSON of the REST API."""

from marshmallow import Schema, fields, validate

from strongroom.plugin_api.schemas import PagingQuery, Timestamp
from strongroom_webhooks.models import Outcome, Status

_TYPES = validate.Length(1, 50)
_URL = validate.Length(1, 2048)
_DESCRIPTION = validate.Length(max=255)
_PATTERN = validate.Length(1, 64)
_WEEK = 7 * 24 * 60 * 60


class NewEndpointSchema(Schema):
    """A URL that will receive events, of a tenant or of the server."""

    url = fields.String(required=True, validate=_URL, metadata={"description": "An https URL"})
    eventTypes = fields.List(
        fields.String(validate=_PATTERN),
        required=True,
        validate=_TYPES,
        metadata={"description": "Types such as `file.created`, groups such as `file.*`, or `*`"},
    )
    tenantId = fields.String(
        load_default=None,
        allow_none=True,
        validate=validate.Length(max=36),
        metadata={"description": "The tenant; without it, events of the whole server"},
    )
    description = fields.String(
        load_default="",
        validate=_DESCRIPTION,
        metadata={"description": "A note for administrators; not sent"},
    )
    ordered = fields.Boolean(
        load_default=True,
        metadata={"description": "Whether a failing delivery holds back later ones"},
    )


class EndpointChangesSchema(Schema):
    """A new state of some members; absent ones stay as they are."""

    revision = fields.Integer(required=True, strict=True)
    url = fields.String(
        validate=_URL, metadata={"description": "The https URL that receives the messages"}
    )
    eventTypes = fields.List(
        fields.String(validate=_PATTERN),
        validate=_TYPES,
        metadata={
            "description": "Types such as `file.created`, groups such as `file.*`, or `*`; replaces "
            "the present list"
        },
    )
    description = fields.String(
        validate=_DESCRIPTION, metadata={"description": "A note for administrators; not sent"}
    )
    ordered = fields.Boolean(
        metadata={"description": "Whether a failing delivery holds back later ones"}
    )
    status = fields.String(
        validate=validate.OneOf([item.value for item in Status]),
        metadata={"description": "`enabled` also resumes an endpoint that was disabled by failures"},
    )


class EndpointSchema(Schema):
    """A URL that receives events, of a tenant or of the server."""

    id = fields.String(required=True, metadata={"description": "Identifies the endpoint in paths"})
    tenantId = fields.String(
        required=True,
        allow_none=True,
        attribute="tenant_id",
        metadata={
            "description": "The tenant whose events it receives; null: the events of the whole server"
        },
    )
    ownerId = fields.String(
        required=True,
        attribute="owner_id",
        metadata={"description": "The administrator whose rights the endpoint has"},
    )
    url = fields.String(
        required=True, metadata={"description": "The https URL that receives the messages"}
    )
    eventTypes = fields.List(
        fields.String(),
        required=True,
        attribute="event_types",
        metadata={"description": "Types such as `file.created`, groups such as `file.*`, or `*`"},
    )
    description = fields.String(
        required=True, metadata={"description": "A note for administrators; not sent"}
    )
    ordered = fields.Boolean(
        required=True, metadata={"description": "Whether a failing delivery holds back later ones"}
    )
    status = fields.String(
        required=True,
        metadata={"description": "`enabled`, or `disabled` by an administrator or after failures"},
    )
    reason = fields.String(
        required=True, allow_none=True, metadata={"description": "Why the server disabled it"}
    )
    failingSince = Timestamp(
        required=True,
        allow_none=True,
        attribute="failing_since",
        metadata={"description": "Since when no delivery has succeeded; null: it is not failing"},
    )
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True, attribute="created_at")
    updatedAt = Timestamp(required=True, attribute="updated_at")


class SecretSchema(Schema):
    """The keys that a receiver verifies with; the secret is shown once."""

    secret = fields.String(required=True, metadata={"description": "For signatures `v1`"})
    publicKey = fields.String(required=True, metadata={"description": "For signatures `v1a`"})


class NewEndpointWithSecretSchema(EndpointSchema, SecretSchema):
    """A new endpoint with its secret."""


class SecretRotationSchema(Schema):
    """How long the former secret remains valid."""

    overlapSeconds = fields.Integer(
        load_default=24 * 60 * 60,
        strict=True,
        validate=validate.Range(0, _WEEK),
        metadata={
            "description": "Seconds for which messages have signatures of both secrets; 0: the "
            "former one ends at once"
        },
    )


class ReplaySchema(Schema):
    """Which events are sent again."""

    fromSequence = fields.Integer(
        required=True,
        strict=True,
        validate=validate.Range(0, 2**63 - 1),
        metadata={"description": "The sequence of the first event in its stream"},
    )
    stream = fields.String(
        validate=validate.Length(1, 36),
        metadata={"description": "`server` or a tenant; default: the tenant of the endpoint"},
    )


class ReplayedSchema(Schema):
    """How many events are sent again."""

    count = fields.Integer(
        required=True,
        metadata={"description": "Number of events that are queued; other types are not counted"},
    )
    nextSequence = fields.Integer(
        required=True,
        allow_none=True,
        metadata={"description": "Where to continue, if there were too many for one request"},
    )


class DeliverySchema(Schema):
    """An event for an endpoint, and its last attempt."""

    id = fields.String(required=True, metadata={"description": "Identifies the delivery in paths"})
    eventId = fields.String(
        required=True, attribute="event_id", metadata={"description": "The `webhook-id`"}
    )
    eventType = fields.String(
        required=True,
        attribute="event_type",
        metadata={"description": "Type of the event, such as `file.created`"},
    )
    stream = fields.String(
        required=True, metadata={"description": "`server`, or the id of the tenant of the event"}
    )
    sequence = fields.Integer(
        required=True, metadata={"description": "Number of the event in its stream"}
    )
    outcome = fields.String(
        required=True,
        metadata={
            "description": "`pending`, `succeeded`, `failed` after all attempts or an answer 410, or"
            " `refused` because of the address"
        },
    )
    attempt = fields.Integer(required=True, metadata={"description": "How often it was attempted"})
    status = fields.Integer(
        required=True, allow_none=True, metadata={"description": "The HTTP status of the answer"}
    )
    error = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "Why the last attempt failed, such as an answer other than 2xx; null: it "
            "did not fail"
        },
    )
    answer = fields.String(
        required=True, allow_none=True, metadata={"description": "The first 1024 bytes of the answer"}
    )
    durationMs = fields.Integer(
        required=True,
        allow_none=True,
        attribute="duration",
        metadata={"description": "Milliseconds of the last attempt; null: none was made"},
    )
    createdAt = Timestamp(
        required=True, attribute="created_at", metadata={"description": "When the delivery was queued"}
    )
    attemptedAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="attempted_at",
        metadata={"description": "When the last attempt was made; null: none was made"},
    )
    nextAttemptAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="shown_next_at",
        metadata={"description": "When the next attempt is due; null: none is planned"},
    )


class EndpointsQuery(PagingQuery):
    """Which endpoints are listed."""

    tenantId = fields.String(
        validate=validate.Length(1, 36), metadata={"description": "Only the endpoints of this tenant"}
    )


class DeliveriesQuery(PagingQuery):
    """Which deliveries of an endpoint are listed."""

    outcome = fields.String(
        validate=validate.OneOf([item.value for item in Outcome]),
        metadata={"description": "Only deliveries in this state"},
    )
