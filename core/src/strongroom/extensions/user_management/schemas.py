"""The JSON of users as administrators manage them."""

from typing import Any, Final

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from strongroom.foundation.errors import ValidationFailed
from strongroom.foundation.json_text import encode_json
from strongroom.identity.accounts.schemas import MAX_NAME, MAX_TEXT, new_password
from strongroom.identity.users.account_links import LinkKind
from strongroom.identity.users.models import EMAIL, MAX_EXTERNAL_ID, MOBILE
from strongroom.identity.verification.schemas import CaptchaAnswerSchema, VerificationCodeSchema
from strongroom.plugin_api.schemas import Timestamp
from strongroom.web.http.parsing import AdministratorsOnly, name_text, text

MAX_BYTES: Final = 16 * 1024
"""The maximum size of metadata as JSON in UTF-8."""

MAX_DEPTH: Final = 16
"""The maximum nesting of arrays and objects in metadata."""


def require_metadata(value: dict[str, Any]) -> None:
    """Require that an object is small enough to be metadata.

    Raises:
        ValidationError: it is larger than :data:`MAX_BYTES`, or nested deeper than :data:`MAX_DEPTH`.
    """
    if _depth(value) > MAX_DEPTH:
        raise ValidationError(f"Must be nested at most {MAX_DEPTH} levels deep.")
    if len(encode_json(value).encode()) > MAX_BYTES:
        raise ValidationError(f"Must have at most {MAX_BYTES} bytes as JSON.")


def _depth(value: Any) -> int:
    # Input is parsed with a limit of its own, so the recursion is bounded.
    if isinstance(value, dict):
        value = list(value.values())
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def require_small_metadata(value: dict[str, Any]) -> None:
    """Do :func:`require_metadata` for the result of a patch.

    Raises:
        ValidationFailed: it is too large, or nested too deep.
    """
    try:
        require_metadata(value)
    except ValidationError as error:
        raise ValidationFailed.of_field("", "too-large", str(error.messages[0])) from error


def metadata_field(**options: Any) -> fields.Dict:
    """Return the field of a JSON object about a user."""
    return fields.Dict(
        keys=fields.String(),
        validate=require_metadata,
        metadata={"description": f"A JSON object of at most {MAX_BYTES} bytes"},
        **options,
    )


class _NamesSchema(Schema):
    requires_any = ("email", "mobile", "username")

    name = name_text(
        MAX_NAME, required=True, metadata={"description": "What other users see; it need not be unique"}
    )
    email = text(
        MAX_TEXT,
        load_default=None,
        metadata={"description": "An address to log in with; no other user may have it"},
    )
    mobile = text(
        MAX_TEXT,
        load_default=None,
        metadata={
            "description": "A number to log in with, as `+8613800138000`; no other user may have it"
        },
    )
    username = text(
        MAX_TEXT,
        load_default=None,
        metadata={"description": "A name to log in with; no other user may have it"},
    )


class _ProofsSchema(_NamesSchema):
    password = new_password()
    verificationCodes = fields.List(
        fields.Nested(VerificationCodeSchema),
        load_default=list,
        validate=validate.Length(max=4),
        metadata={
            "description": "For a registration: a code for `register` for each contact, except one that "
            "`invitation` proves"
        },
    )
    captcha = fields.Nested(
        CaptchaAnswerSchema,
        load_default=None,
        metadata={"description": "For a registration without an e-mail address and a mobile number"},
    )
    invitation = text(
        128,
        load_default=None,
        metadata={"description": "The secret of an invitation, which proves its address"},
    )
    acceptedTerms = text(
        64,
        load_default=None,
        metadata={"description": "The version of the terms that the user accepts"},
    )


class RegistrationSchema(_ProofsSchema):
    """A registration.

    An e-mail address or mobile number needs a code, except for an address that `invitation` proves; a
    registration without either needs a captcha.
    """

    emailVerified = AdministratorsOnly()
    mobileVerified = AdministratorsOnly()
    passwordHash = AdministratorsOnly()
    passwordChangeRequired = AdministratorsOnly()
    externalId = AdministratorsOnly()
    invite = AdministratorsOnly()
    metadata = AdministratorsOnly()
    serverMetadata = AdministratorsOnly()


class ManagedUserSchema(_NamesSchema):
    """A user that an administrator creates, with at most one of a password and a hash of one."""

    password = new_password(load_default=None)
    emailVerified = fields.Boolean(
        load_default=False, metadata={"description": "Whether the address counts as proven"}
    )
    mobileVerified = fields.Boolean(
        load_default=False, metadata={"description": "Whether the number counts as proven"}
    )
    passwordHash = fields.Dict(
        keys=fields.String(),
        load_default=None,
        metadata={"description": "A hash of another system: `algorithm` names its scheme"},
    )
    passwordChangeRequired = fields.Boolean(
        load_default=False,
        metadata={"description": "Whether the first login must replace the password"},
    )
    invite = fields.Boolean(
        load_default=False,
        metadata={"description": "Whether to send a link by which the user chooses a password"},
    )
    externalId = text(
        MAX_EXTERNAL_ID, load_default=None, metadata={"description": "The id in another system"}
    )
    metadata = metadata_field(load_default=dict)
    serverMetadata = metadata_field(load_default=dict)

    @validates_schema
    def _require_one_password(self, data: dict[str, Any], **_: Any) -> None:
        passwords = [name for name in ("password", "passwordHash") if data[name] is not None]
        passwords += ["invite"] if data["invite"] else []
        if len(passwords) > 1:
            raise ValidationError(f"Must be absent with {passwords[0]}.", passwords[1])
        if data["passwordChangeRequired"] and passwords in ([], ["invite"]):
            raise ValidationError("Must be false without a password.", "passwordChangeRequired")

    @validates_schema
    def _require_contacts(self, data: dict[str, Any], **_: Any) -> None:
        for kind in (EMAIL, MOBILE):
            if data[f"{kind}Verified"] and data[kind] is None:
                raise ValidationError(f"Must be false without {kind}.", f"{kind}Verified")
        if not any(data[name] for name in self.requires_any):
            message = "At least one of email, mobile and username is required."
            raise ValidationError(message, "email")


class NewUserSchema(ManagedUserSchema, _ProofsSchema):
    """A registration, or a user that an administrator creates.

    A registration needs a password, a code for each e-mail address and mobile number, and a captcha
    without either. `invitation` proves the address that it was sent to. An administrator needs none of
    them, and only an administrator may send `emailVerified`, `mobileVerified`, `passwordHash`,
    `passwordChangeRequired`, `invite`, `externalId`, `metadata` and `serverMetadata`.
    """


class ContactSchema(Schema):
    """A contact or username that an administrator sets."""

    value = text(
        MAX_TEXT,
        required=True,
        metadata={"description": "The new address, number or username, in any spelling"},
    )
    verified = fields.Boolean(
        load_default=False, metadata={"description": "Whether the contact counts as proven"}
    )


class TemporaryPasswordSchema(Schema):
    """A temporary password, which is shown only now."""

    password = fields.String(
        required=True,
        metadata={"description": "To be passed to the user; the login with it requires a new one"},
    )
    expiresAt = Timestamp(
        required=True,
        attribute="expires_at",
        metadata={"description": "When the password is no longer accepted"},
    )


class NewPasswordLinkSchema(Schema):
    """A link by which a user sets a password."""

    kind = fields.String(
        required=True,
        validate=validate.OneOf([kind.value for kind in LinkKind]),
        metadata={"description": "`invite`: valid for 7 days; `reset`: for a day"},
    )
    send = fields.Boolean(
        load_default=True, metadata={"description": "Whether to send it to the user, or to return it"}
    )


class PasswordLinkSchema(Schema):
    """An issued link."""

    expiresAt = Timestamp(
        required=True,
        attribute="expires_at",
        metadata={"description": "When the link is no longer accepted"},
    )
    url = fields.Url(metadata={"description": "Only with `send: false`, and only now"})


class PasswordLinkRedemptionSchema(Schema):
    """The token of a link, and the password that it sets."""

    token = text(128, required=True, metadata={"description": "The last part of the URL of the link"})
    newPassword = new_password()


class ContactLinkSchema(Schema):
    """The token of a link that takes back a former contact."""

    token = text(128, required=True, metadata={"description": "The last part of the URL in the notice"})


class ContactRestorationSchema(ContactLinkSchema):
    """The token of a link that takes back a former contact, and the new password."""

    newPassword = new_password()


class RestorableContactSchema(Schema):
    """What a link does, with masked contacts."""

    kind = fields.String(
        required=True,
        validate=validate.OneOf([EMAIL, MOBILE]),
        metadata={"description": "Which contact was changed"},
    )
    former = fields.String(required=True, metadata={"description": "The contact to take back"})
    current = fields.String(
        allow_none=True,
        required=True,
        metadata={"description": "What replaced it; `null`: it was removed"},
    )
    expiresAt = Timestamp(
        required=True,
        attribute="expires_at",
        metadata={"description": "When the link is no longer accepted"},
    )
