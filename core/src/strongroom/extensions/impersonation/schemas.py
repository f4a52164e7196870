"""The JSON of impersonation."""

from typing import Final

from marshmallow import Schema, fields, validate

from strongroom.plugin_api.schemas import LoggedInUserSchema, Timestamp
from strongroom.web.http.parsing import text

MAX_MINUTES: Final = 60
MAX_REASON: Final = 255


class NewImpersonationSchema(Schema):
    """Why, and for how long."""

    reason = text(MAX_REASON, required=True, metadata={"description": "For the audit log"})
    minutes = fields.Integer(
        strict=True,
        required=True,
        validate=validate.Range(min=1, max=MAX_MINUTES),
        metadata={"description": "How long the access token is valid"},
    )


class ImpersonationSchema(Schema):
    """An access token that acts as the user, without a refresh token."""

    id = fields.String(
        required=True,
        metadata={"description": "`DELETE /authorizations/{id}` ends it"},
    )
    accessToken = fields.String(
        required=True,
        attribute="access_token",
        metadata={"description": "A JWT that acts as the user; the audit log names the administrator"},
    )
    expiresAt = Timestamp(
        required=True,
        attribute="expires_at",
        metadata={"description": "When the access token expires. It cannot be renewed"},
    )
    user = fields.Nested(
        LoggedInUserSchema, required=True, metadata={"description": "The impersonated user"}
    )
