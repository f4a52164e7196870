"""What clients send and get."""

from marshmallow import Schema, fields, validate

from strongroom.users.models import UserStatus, UserType
from strongroom.verification.schemas import CaptchaAnswerSchema, VerificationCodeSchema
from strongroom.web.schema import Moment, text

MAX_TEXT = 1024
MAX_NAME = 255


class NewUserSchema(Schema):
    """A registration: each e-mail address and mobile number needs a code; without either, a captcha."""

    name = text(MAX_NAME, required=True)
    email = text(MAX_TEXT, load_default=None)
    mobile = text(MAX_TEXT, load_default=None)
    username = text(MAX_TEXT, load_default=None)
    password = text(MAX_TEXT * 4, required=True)
    verificationCodes = fields.List(
        fields.Nested(VerificationCodeSchema), load_default=list, validate=validate.Length(max=4)
    )
    captcha = fields.Nested(CaptchaAnswerSchema, load_default=None)


class UserSchema(Schema):
    """A user."""

    id = fields.String(required=True)
    type = fields.String(required=True, validate=validate.OneOf([kind.value for kind in UserType]))
    status = fields.String(required=True, validate=validate.OneOf([state.value for state in UserStatus]))
    name = fields.String(required=True)
    revision = fields.Integer(required=True)
    createdAt = Moment(required=True, attribute="created_at")
    updatedAt = Moment(required=True, attribute="updated_at")


class UserChangeSchema(Schema):
    """What is to change; with a revision, here or in If-Match, nothing that came since is lost."""

    name = text(MAX_NAME)
    type = fields.String(validate=validate.OneOf([kind.value for kind in UserType]))
    revision = fields.Integer(strict=True)


class BoundCredentialSchema(Schema):
    """What a user logs in by."""

    kind = fields.String(required=True)
    value = fields.String(required=True)
    createdAt = Moment(required=True, attribute="created_at")


class CredentialsSchema(Schema):
    """Several credentials, for plugins."""

    credentials = fields.List(fields.Nested(BoundCredentialSchema), required=True)


class ProofSchema(Schema):
    """The proof that binding a credential requires besides the token."""

    heldCode = fields.Nested(
        VerificationCodeSchema,
        load_default=None,
        metadata={"description": "A code sent to a contact that is held; required if there is one"},
    )
    currentPassword = text(
        MAX_TEXT * 4,
        load_default=None,
        allow_none=True,
        metadata={"description": "Required if no contact is held and there is a password"},
    )


class NewEmailSchema(ProofSchema):
    """An e-mail address to bind, with a code sent to it."""

    email = text(MAX_TEXT, required=True)
    verificationCode = fields.Nested(VerificationCodeSchema, required=True)


class NewMobileSchema(ProofSchema):
    """A mobile number to bind, with a code sent to it."""

    mobile = text(MAX_TEXT, required=True)
    verificationCode = fields.Nested(VerificationCodeSchema, required=True)


class UsernameSchema(ProofSchema):
    """A login username."""

    username = text(MAX_TEXT, required=True)


class PasswordChangeSchema(Schema):
    """The old password and the new one."""

    oldPassword = text(MAX_TEXT * 4, required=True)
    newPassword = text(MAX_TEXT * 4, required=True)


class PasswordResetSchema(Schema):
    """A new password, and the code that lets it be set."""

    verificationCode = fields.Nested(VerificationCodeSchema, required=True)
    newPassword = text(MAX_TEXT * 4, required=True)


class PasswordSchema(Schema):
    """A password to be judged."""

    password = text(MAX_TEXT * 4, minimum=0, required=True)


class StrengthSchema(Schema):
    """How hard a password is to guess."""

    strength = fields.String(required=True, validate=validate.OneOf(["low", "medium", "high"]))


class AvailabilitySchema(Schema):
    """Whether a credential can be used for registration."""

    available = fields.Boolean(required=True)
