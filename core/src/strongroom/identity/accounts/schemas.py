"""The JSON of user accounts and credentials."""

import re
from typing import Any

from marshmallow import INCLUDE, Schema, ValidationError, fields, validate

from strongroom.identity.sessions.schemas import ChallengeAnswerSchema, require_short_json
from strongroom.identity.users.models import (
    LIVE_STATUSES,
    MAX_EXTERNAL_ID,
    MAX_LOCALE,
    MAX_REASON,
    UserType,
)
from strongroom.identity.users.password_policy import MAX_LENGTH, MIN_LENGTH
from strongroom.identity.users.user_lists import USER_SORTS, UserSort
from strongroom.identity.verification.schemas import VerificationCodeSchema
from strongroom.plugin_api.schemas import (
    FactorSchema,
    IssuedTokensSchema,
    PagingQuery,
    ReferenceSchema,
    Timestamp,
    collection_schema,
)
from strongroom.plugin_api.times import MAX_ZONE, find_zone
from strongroom.web.http.parsing import name_text, text

MAX_TEXT = 1024
MAX_NAME = 255
MAX_FACTOR_NAME = 64
_POLICY = "With an uppercase letter, a lowercase letter and a digit"

_LOCALE = re.compile("[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")


def _require_locale(value: str) -> None:
    if not _LOCALE.fullmatch(value):
        raise ValidationError("Must be a BCP 47 tag, such as zh-CN.")


def _require_zone(value: str) -> None:
    if find_zone(value) is None:
        raise ValidationError("Must be a time zone, such as Asia/Shanghai.")


def new_password(**options: Any) -> fields.String:
    """Return the field of a new password; see :mod:`~strongroom.identity.users.password_policy`.

    It is required, unless the options have a ``load_default``.
    """
    length = {"minLength": MIN_LENGTH, "maxLength": MAX_LENGTH}
    # Only described: an error of the policy names each rule that the password breaks.
    metadata = {**length, "description": _POLICY}
    return text(MAX_TEXT * 4, required="load_default" not in options, metadata=metadata, **options)


class UserSchema(Schema):
    """A user as the user and administrators see it."""

    id = fields.String(required=True, metadata={"description": "Id of the user, which never changes"})
    type = fields.String(
        required=True,
        validate=validate.OneOf([kind.value for kind in UserType]),
        metadata={"description": "The role on the whole server; `SERVICE` is the account of a machine"},
    )
    status = fields.String(
        required=True,
        validate=validate.OneOf(LIVE_STATUSES),
        metadata={
            "description": "A suspended user cannot log in, and all tokens and access keys are refused"
        },
    )
    name = fields.String(
        required=True, metadata={"description": "What other users see; it need not be unique"}
    )
    email = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The address to log in with; `null`: the user has none"},
    )
    mobile = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "The number to log in with, such as `+8613800138000`; `null`: the user has "
            "none"
        },
    )
    username = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The name to log in with; `null`: the user has none"},
    )
    locale = fields.String(required=True, allow_none=True, metadata={"description": "BCP 47"})
    timezone = fields.String(
        required=True, allow_none=True, metadata={"description": "As `Asia/Shanghai`"}
    )
    emailVerified = fields.Boolean(
        required=True,
        attribute="email_verified",
        metadata={"description": "Whether a code, or an administrator, has verified it"},
    )
    mobileVerified = fields.Boolean(
        required=True,
        attribute="mobile_verified",
        metadata={"description": "Whether a code, or an administrator, has verified it"},
    )
    hasPassword = fields.Boolean(
        required=True,
        attribute="has_password",
        metadata={"description": "Whether the user can log in with a password"},
    )
    passwordChangeRequired = fields.Boolean(
        required=True,
        attribute="password_change_required",
        metadata={"description": "Whether the next login by the password must change it"},
    )
    externalId = fields.String(
        required=True,
        allow_none=True,
        attribute="external_id",
        metadata={"description": "The id in another system"},
    )
    lastLoginAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="last_login_at",
        metadata={"description": "When the user last logged in; `null`: never"},
    )
    suspendedUntil = Timestamp(
        required=True,
        allow_none=True,
        attribute="suspended_until",
        metadata={"description": "When a suspension ends, if it has an end"},
    )
    suspensionReason = fields.String(
        allow_none=True,
        attribute="suspension_reason",
        metadata={"description": "Only for administrators"},
    )
    deletionDueAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="deletion_due_at",
        metadata={"description": "When the user will be deleted, unless the user cancels it"},
    )
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True, attribute="created_at")
    updatedAt = Timestamp(required=True, attribute="updated_at")


class UserQuery(PagingQuery):
    """Filters of a list of users, combined with AND, and its sort order."""

    q = text(MAX_NAME, metadata={"description": "Part of the name, address, number or username"})
    email = text(MAX_TEXT, metadata={"description": "The whole address, in any spelling"})
    mobile = text(MAX_TEXT, metadata={"description": "The whole number, in any spelling"})
    username = text(MAX_TEXT, metadata={"description": "The whole username"})
    status = fields.String(
        validate=validate.OneOf(LIVE_STATUSES), metadata={"description": "Only users with this status"}
    )
    type = fields.String(
        validate=validate.OneOf([kind.value for kind in UserType]),
        metadata={"description": "Only users with this role on the server"},
    )
    externalId = text(
        MAX_EXTERNAL_ID,
        attribute="external_id",
        metadata={"description": "The whole id in another system"},
    )
    sort = fields.String(
        load_default=UserSort.CREATED_AT.value,
        validate=validate.OneOf(USER_SORTS),
        metadata={"description": "`-` is descending; users who never logged in are before all others"},
    )


class UserChangeSchema(Schema):
    """Changes to a user. A revision, here or in If-Match, detects concurrent changes."""

    name = name_text(MAX_NAME, metadata={"description": "What other users see; it need not be unique"})
    locale = fields.String(
        allow_none=True,
        validate=[validate.Length(max=MAX_LOCALE), _require_locale],
        metadata={"description": "Language of messages that are not caused by a request of the user"},
    )
    timezone = fields.String(
        allow_none=True,
        validate=[validate.Length(max=MAX_ZONE), _require_zone],
        metadata={"description": "Time zone of IANA of the times in messages, such as `Asia/Shanghai`"},
    )
    type = fields.String(
        validate=validate.OneOf([kind.value for kind in UserType]),
        metadata={
            "description": "The role on the whole server; only for administrators, and never `SERVICE`"
        },
    )
    status = fields.String(
        validate=validate.OneOf(LIVE_STATUSES),
        metadata={"description": "Suspends or reinstates the user; only for administrators"},
    )
    externalId = text(
        MAX_EXTERNAL_ID,
        attribute="external_id",
        allow_none=True,
        metadata={"description": "The id in another system; only for administrators"},
    )
    revision = fields.Integer(strict=True)


class SuspensionSchema(Schema):
    """A suspension. Without an end, it lasts until the user is reinstated."""

    reason = text(
        MAX_REASON,
        load_default=None,
        allow_none=True,
        metadata={"description": "Only administrators see it"},
    )
    until = Timestamp(
        load_default=None,
        allow_none=True,
        metadata={
            "description": "When the user is reinstated automatically; `null`: only an administrator "
            "reinstates the user"
        },
    )


class ProofSchema(Schema):
    """The proof that binding a credential requires in addition to the token."""

    heldCode = fields.Nested(
        VerificationCodeSchema,
        load_default=None,
        metadata={"description": "A code sent to a current contact; required if the user has one"},
    )
    currentPassword = text(
        MAX_TEXT * 4,
        load_default=None,
        allow_none=True,
        metadata={"description": "Required if the user has a password and no contact"},
    )


class NewEmailSchema(ProofSchema):
    """An e-mail address to bind, with a code sent to it."""

    email = text(MAX_TEXT, required=True, metadata={"description": "The new address, in any spelling"})
    verificationCode = fields.Nested(
        VerificationCodeSchema,
        required=True,
        metadata={"description": "A code for `bind` that was sent to the new address"},
    )


class NewMobileSchema(ProofSchema):
    """A mobile number to bind, with a code sent to it."""

    mobile = text(MAX_TEXT, required=True, metadata={"description": "The new number, in any spelling"})
    verificationCode = fields.Nested(
        VerificationCodeSchema,
        required=True,
        metadata={"description": "A code for `bind` that was sent to the new number"},
    )


class UsernameSchema(ProofSchema):
    """A login username."""

    username = text(
        MAX_TEXT,
        required=True,
        metadata={"description": "The new username, which no other user may have"},
    )


class PasswordChangeSchema(Schema):
    """The old password and the new one. Without an old one, the proof that binding a contact needs."""

    oldPassword = text(
        MAX_TEXT * 4,
        load_default=None,
        allow_none=True,
        metadata={"description": "Required if the user has a password"},
    )
    newPassword = new_password()
    heldCode = fields.Nested(
        VerificationCodeSchema,
        load_default=None,
        metadata={"description": "A code sent to a contact; required with a contact and no password"},
    )


class PasswordResetSchema(Schema):
    """A new password and a reset code."""

    verificationCode = fields.Nested(
        VerificationCodeSchema,
        required=True,
        metadata={
            "description": "A code for `reset-password` that was sent to the credential in the path"
        },
    )
    newPassword = new_password()


class PasswordSchema(Schema):
    """A password whose strength is estimated."""

    password = text(
        MAX_TEXT * 4,
        minimum=0,
        required=True,
        metadata={"description": "It is neither stored nor logged"},
    )


class StrengthSchema(Schema):
    """How hard a password is to guess."""

    strength = fields.String(
        required=True,
        validate=validate.OneOf(["low", "medium", "high"]),
        metadata={"description": "By an estimate of the guesses that an attacker needs"},
    )


class AvailabilitySchema(Schema):
    """Whether a credential can be used for registration."""

    available = fields.Boolean(
        required=True, metadata={"description": "Whether it is valid, and no user has it"}
    )


class SetupSchema(Schema):
    """The account of the first administrator, and the token of the setup link."""

    token = text(
        MAX_TEXT,
        required=True,
        metadata={"description": "The token in the link that the operator has issued"},
    )
    email = text(MAX_TEXT, required=True, metadata={"description": "The address to log in with"})
    name = name_text(
        MAX_NAME, minimum=0, load_default="", metadata={"description": "What other users see"}
    )
    password = new_password()


class _SummarySchema(Schema):
    shown = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={"description": "By kind: what the user's devices need, such as `passkey.rpId`"},
    )


class FactorsSchema(_SummarySchema, collection_schema(FactorSchema)):  # type: ignore[misc]
    """The second factors of a user."""


class RecoveryCodesSchema(Schema):
    """A new sheet of recovery codes."""

    recoveryCodes = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "Each replaces a second factor once. No later response has them"},
    )


class FactorNameSchema(Schema):
    """A new name of a factor."""

    name = name_text(
        MAX_FACTOR_NAME,
        minimum=0,
        required=True,
        metadata={"description": "What the user sees in the list of factors"},
    )


class RenamedFactorSchema(_SummarySchema):
    """A second factor after its change of name."""

    factor = fields.Nested(
        FactorSchema, required=True, metadata={"description": "The factor with its new name"}
    )


class RemovedFactorSchema(_SummarySchema):
    """The factors that are left."""

    success = fields.Boolean(required=True)


class NewFactorSchema(Schema):
    """The beginning of an enrolment."""

    kind = text(32, required=True, metadata={"description": "Such as `totp` or `recovery-code`"})
    name = name_text(
        MAX_FACTOR_NAME,
        minimum=0,
        load_default="",
        metadata={"description": "A name for the user's list"},
    )


class EnrolmentSchema(Schema):
    """An open enrolment."""

    id = fields.String(
        required=True, metadata={"description": "Names the enrolment in the request that finishes it"}
    )
    kind = fields.String(required=True, metadata={"description": "The kind of factor that is enrolled"})
    expiresAt = Timestamp(required=True, metadata={"description": "When an answer comes too late"})
    shown = fields.Dict(
        keys=fields.String(), required=True, metadata={"description": "What the user needs to answer"}
    )


class NewDueEnrolmentSchema(NewFactorSchema):
    """The beginning of an enrolment in a login."""

    id = text(64, required=True, metadata={"description": "Of `enrolment` in the response to the login"})


class FactorReportQuery(PagingQuery):
    """Which users to list."""

    missing = fields.Boolean(
        load_default=False,
        metadata={"description": "Only users who must have a second factor and have none"},
    )


class FactorStateSchema(Schema):
    """The second factors of a user."""

    user = fields.Nested(
        ReferenceSchema,
        required=True,
        metadata={"description": "Whose factors they are; the name is in `included`"},
    )
    type = fields.String(required=True, metadata={"description": "USER or ADMIN"})
    factors = fields.List(fields.String(), required=True, metadata={"description": "Kinds, once each"})
    isRequired = fields.Boolean(
        required=True, metadata={"description": "Whether the user must have a second factor"}
    )
    dueAt = Timestamp(
        required=True,
        allow_none=True,
        metadata={"description": "The end of the grace period, if it has begun"},
    )


class FactorAnswerSchema(Schema):
    """The answer to an enrolment."""

    answer = fields.Raw(
        validate=require_short_json,
        load_default=None,
        allow_none=True,
        metadata={"type": ["string", "object"], "description": "Such as the code of `totp`"},
    )


class ConfirmedFactorSchema(Schema):
    """An enrolled factor, and what the response contains only this once."""

    factor = fields.Nested(FactorSchema, required=True, metadata={"description": "The new factor"})
    shown = fields.Dict(
        keys=fields.String(), required=True, metadata={"description": "Such as `recoveryCodes`"}
    )


class DueAnswerSchema(FactorAnswerSchema):
    """The answer to an enrolment in a login."""

    id = text(64, required=True, metadata={"description": "Of `enrolment` in the response to the login"})
    enrolmentId = text(64, required=True, metadata={"description": "`id` of the begun enrolment"})


class EnrolledTokensSchema(IssuedTokensSchema):
    """Tokens of a login that has enrolled a factor."""

    factor = fields.Nested(FactorSchema, required=True, metadata={"description": "The new factor"})
    shown = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={"description": "What the client receives only now"},
    )


class StepUpSchema(Schema):
    """A proof: the answer to a challenge, a code sent to a contact, or the current password."""

    challenge = fields.Nested(
        ChallengeAnswerSchema,
        load_default=None,
        allow_none=True,
        unknown=INCLUDE,
        metadata={"description": "The answer of a second factor, in the second request"},
    )
    verificationCode = fields.Nested(
        VerificationCodeSchema,
        load_default=None,
        allow_none=True,
        metadata={
            "description": "A code for `bind`, sent to a contact; for callers without a second factor"
        },
    )
    currentPassword = text(
        MAX_TEXT,
        load_default=None,
        allow_none=True,
        minimum=0,
        metadata={"description": "For callers without a second factor"},
    )


class RenewedTokenSchema(Schema):
    """A new access token of the same login."""

    accessToken = fields.String(
        required=True,
        attribute="access_token",
        metadata={"description": "A JWT that has the new proof, to be sent from now on"},
    )
    expiresAt = Timestamp(
        required=True,
        attribute="expires_at",
        metadata={"description": "When the new access token expires"},
    )


class LinksSchema(Schema):
    """The URLs of other pages; those that this server does not have are absent."""

    openapi = fields.Url(required=True, metadata={"description": "The OpenAPI document of this server"})
    documentation = fields.Url(
        metadata={"description": "Pages that send requests of the document from the browser"}
    )
    setup = fields.Url(metadata={"description": "Only while there is no administrator"})


class StartSchema(Schema):
    """The server."""

    name = fields.String(
        required=True, metadata={"description": "Always `Strongroom`: the name of the software"}
    )
    version = fields.String(required=True, metadata={"description": "The version of the server"})
    links = fields.Nested(LinksSchema, required=True, metadata={"description": "Where to go from here"})
