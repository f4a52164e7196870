"""Request and response bodies of the verification routes."""

from collections.abc import Mapping
from typing import Any

from marshmallow import INCLUDE, Schema, fields, post_dump, validate

from strongroom.identity.verification.codes import Purpose
from strongroom.web.http.parsing import Timestamp, text


class CaptchaRequestSchema(Schema):
    """A request for a captcha. It has no members."""


class IssuedCaptchaSchema(Schema):
    """A challenge. Its other members depend on its kind; a plugin may add more."""

    class Meta:
        unknown = INCLUDE

    id = fields.String(required=True)
    kind = fields.String(required=True)
    expiresAt = Timestamp(required=True, attribute="expires_at")
    question = fields.String(metadata={"description": "The question as text"})
    image = fields.String(metadata={"description": "A data URI of the image to read"})
    audio = fields.String(metadata={"description": "A data URI of the same text as speech"})

    @post_dump(pass_original=True)
    def add_payload(self, data: Mapping[str, Any], original: Any, **_: Any) -> dict[str, Any]:
        """Merge the provider's payload into the members of the core, which take precedence."""
        return {**data, **{key: value for key, value in original.payload.items() if key not in data}}


class CaptchaAnswerSchema(Schema):
    """The solution of a captcha."""

    id = text(64, required=True)
    answer = text(1024, required=True)


class VerificationCodeSchema(Schema):
    """A code from a message, with its id."""

    id = text(64, required=True)
    code = text(64, required=True)


class CodeRequestSchema(Schema):
    """A request for a verification code."""

    recipient = text(1024, required=True)
    purpose = fields.String(required=True, validate=validate.OneOf([item.value for item in Purpose]))
    captcha = fields.Nested(CaptchaAnswerSchema, load_default=None)
    invitation = text(
        128,
        load_default=None,
        metadata={"description": "For `register`, if only invited users can: the invitation's secret"},
    )
    link = fields.Boolean(
        load_default=False,
        metadata={
            "description": "For a login by e-mail: also send a link, which counts on this device only. "
            "Ignored for others, and on servers without login pages"
        },
    )


class SentCodeSchema(Schema):
    """A code that was sent, unless no message is due for the recipient."""

    id = fields.String(required=True)
    expiresAt = Timestamp(required=True, attribute="expires_at")
    retryAfterSeconds = fields.Integer(required=True, attribute="retry_after_seconds")
