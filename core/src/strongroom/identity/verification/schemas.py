"""Request and response bodies of the verification routes."""

from collections.abc import Mapping
from typing import Any

from marshmallow import INCLUDE, Schema, fields, post_dump, validate

from strongroom.identity.verification.codes import Purpose
from strongroom.plugin_api.schemas import Timestamp
from strongroom.web.http.parsing import text


class CaptchaRequestSchema(Schema):
    """A request for a captcha. It has no members."""


class IssuedCaptchaSchema(Schema):
    """A challenge. Its other members depend on its kind; a plugin may add more."""

    class Meta:
        unknown = INCLUDE

    id = fields.String(
        required=True, metadata={"description": "Names the captcha in the answer, which counts once"}
    )
    kind = fields.String(
        required=True,
        metadata={
            "description": "What the user has to do, such as `image`; it decides the other members"
        },
    )
    expiresAt = Timestamp(
        required=True, attribute="expires_at", metadata={"description": "When an answer comes too late"}
    )
    question = fields.String(metadata={"description": "The question as text"})
    image = fields.String(metadata={"description": "A data URI of the image to read"})
    audio = fields.String(metadata={"description": "A data URI of the same text as speech"})

    @post_dump(pass_original=True)
    def add_payload(self, data: Mapping[str, Any], original: Any, **_: Any) -> dict[str, Any]:
        """Merge the provider's payload into the members of the core, which take precedence."""
        return {**data, **{key: value for key, value in original.payload.items() if key not in data}}


class CaptchaAnswerSchema(Schema):
    """The solution of a captcha."""

    id = text(64, required=True, metadata={"description": "`id` of the issued captcha"})
    answer = text(
        1024,
        required=True,
        metadata={
            "description": "What the user has read or heard, or what the captcha's script has returned"
        },
    )


class VerificationCodeSchema(Schema):
    """A code from a message, with its id."""

    id = text(
        64, required=True, metadata={"description": "`id` of the response to the request for the code"}
    )
    code = text(64, required=True, metadata={"description": "The code in the message, for one use"})


class CodeRequestSchema(Schema):
    """A request for a verification code."""

    recipient = text(
        1024,
        required=True,
        metadata={"description": "An e-mail address or a mobile number, in any spelling"},
    )
    purpose = fields.String(
        required=True,
        validate=validate.OneOf([item.value for item in Purpose]),
        metadata={"description": "The only operation that accepts the code"},
    )
    captcha = fields.Nested(
        CaptchaAnswerSchema,
        load_default=None,
        metadata={"description": "Needed after `error.captcha-required`"},
    )
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

    id = fields.String(
        required=True, metadata={"description": "Accompanies the code in the request that uses it"}
    )
    expiresAt = Timestamp(
        required=True,
        attribute="expires_at",
        metadata={"description": "When the code is no longer accepted"},
    )
    retryAfterSeconds = fields.Integer(
        required=True,
        attribute="retry_after_seconds",
        metadata={"description": "Seconds until another code may be requested for the recipient"},
    )
