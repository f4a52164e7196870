"""What clients send and get."""

from collections.abc import Mapping
from typing import Any

from marshmallow import INCLUDE, Schema, fields, post_dump, validate

from strongroom.verification.codes import Purpose
from strongroom.web.schema import Timestamp, text


class CaptchaRequestSchema(Schema):
    """The wish for a captcha; there is nothing to choose."""


class IssuedCaptchaSchema(Schema):
    """A puzzle. Its other members depend on the kind, and a plugin may add members of its own."""

    class Meta:
        unknown = INCLUDE

    id = fields.String(required=True)
    kind = fields.String(required=True)
    expiresAt = Timestamp(required=True, attribute="expires_at")
    question = fields.String(metadata={"description": "What to answer, as text"})
    image = fields.String(metadata={"description": "A data URI of the picture to read"})
    audio = fields.String(metadata={"description": "A data URI of the same, spoken"})

    @post_dump(pass_original=True)
    def add_payload(self, data: Mapping[str, Any], original: Any, **_: Any) -> dict[str, Any]:
        """Put what the provider shows beside what the core does."""
        return {**data, **{key: value for key, value in original.payload.items() if key not in data}}


class CaptchaAnswerSchema(Schema):
    """The solution of a captcha."""

    id = text(64, required=True)
    answer = text(1024, required=True)


class VerificationCodeSchema(Schema):
    """A code that a message brought."""

    id = text(64, required=True)
    code = text(64, required=True)


class CodeRequestSchema(Schema):
    """The wish for a verification code."""

    recipient = text(1024, required=True)
    purpose = fields.String(required=True, validate=validate.OneOf([item.value for item in Purpose]))
    captcha = fields.Nested(CaptchaAnswerSchema, load_default=None)


class SentCodeSchema(Schema):
    """A code is on its way, if anybody is there to receive it."""

    id = fields.String(required=True)
    expiresAt = Timestamp(required=True, attribute="expires_at")
    retryAfterSeconds = fields.Integer(required=True, attribute="retry_after_seconds")
