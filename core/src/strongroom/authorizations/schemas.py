"""What clients send and get."""

from marshmallow import Schema, fields

from strongroom.verification.schemas import CaptchaAnswerSchema, VerificationCodeSchema
from strongroom.web.schema import Moment, text

MAX_TEXT = 1024


class LoginSchema(Schema):
    """The authenticate request. Without a password it needs another proof."""

    username = text(MAX_TEXT, required=True)
    password = text(MAX_TEXT, load_default=None, allow_none=True, minimum=0)
    verificationCode = fields.Nested(VerificationCodeSchema, load_default=None, allow_none=True)
    captcha = fields.Nested(CaptchaAnswerSchema, load_default=None, allow_none=True)


class LoggedInUserSchema(Schema):
    """Who has logged in."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    type = fields.String(required=True)


class IssuedTokenSchema(Schema):
    """An access token, which the header X-Access-Token carries as well."""

    accessToken = fields.String(required=True, attribute="access_token")
    expiresAt = Moment(required=True, attribute="expires_at")
    user = fields.Nested(LoggedInUserSchema, required=True)
