"""JSON of imports of users, and of their lines."""

from typing import Any, Final

from marshmallow import Schema, fields, validate

from strongroom.extensions.user_imports.models import ImportState, OnTakenUser
from strongroom.extensions.user_management.schemas import metadata_field
from strongroom.identity.users.models import MAX_EXTERNAL_ID, UserStatus
from strongroom.plugin_api.schemas import Timestamp
from strongroom.web.http.parsing import name_text, text

_MAX_NAME: Final = 255
_MAX_TEXT: Final = 1024
_MAX_IDENTITIES: Final = 20


def _described(description: str) -> dict[str, Any]:
    return {"metadata": {"description": description}}


class IdentitySchema(Schema):
    """An account of a login method, at another provider."""

    provider = text(32, required=True, **_described("The kind of credentials, as of the login method"))
    subject = text(255, required=True, **_described("The account, in the form of the login method"))


class UserLineSchema(Schema):
    """A line of an import: a user of another system. All members are optional."""

    externalId = text(
        MAX_EXTERNAL_ID,
        attribute="external_id",
        allow_none=True,
        **_described("The id in the other system"),
    )
    name = name_text(_MAX_NAME, minimum=0, allow_none=True)
    email = text(_MAX_TEXT, allow_none=True)
    emailVerified = fields.Boolean(
        attribute="email_verified", allow_none=True, **_described("Whether a proof has verified it")
    )
    mobile = text(_MAX_TEXT, allow_none=True)
    mobileVerified = fields.Boolean(attribute="mobile_verified", allow_none=True)
    username = text(_MAX_TEXT, allow_none=True)
    status = fields.String(
        validate=validate.OneOf([UserStatus.ACTIVE.value, UserStatus.SUSPENDED.value]), allow_none=True
    )
    createdAt = Timestamp(attribute="created_at", allow_none=True)
    metadata = metadata_field(allow_none=True)
    serverMetadata = metadata_field(attribute="server_metadata", allow_none=True)
    identities = fields.List(
        fields.Nested(IdentitySchema),
        validate=validate.Length(max=_MAX_IDENTITIES),
        allow_none=True,
    )
    totp = text(512, allow_none=True, **_described("The secret of an authenticator app, in base 32"))
    password = fields.Raw(
        allow_none=True, **_described("A hash as an object with `algorithm`, or a password as a string")
    )


class UserImportQuery(Schema):
    """The options of an import."""

    dryRun = fields.Boolean(load_default=False, **_described("Check everything, and change no user"))
    onConflict = fields.String(
        load_default=OnTakenUser.FAIL.value,
        validate=validate.OneOf([choice.value for choice in OnTakenUser]),
        **_described("What happens to a line whose user exists"),
    )
    events = fields.Boolean(
        load_default=False, **_described("Let each user make an event, as one who registers does")
    )


class UserImportSchema(Schema):
    """An import of users. The counts are of lines."""

    id = fields.String(required=True, **_described("Id of the import, for its progress and its errors"))
    state = fields.String(
        required=True,
        validate=validate.OneOf([state.value for state in ImportState]),
        **_described("How far it is. `revoked`: the administrator has lost the right to import users"),
    )
    dryRun = fields.Boolean(
        required=True,
        attribute="dry_run",
        **_described("Whether lines are only checked, and no user changes"),
    )
    onConflict = fields.String(
        required=True, attribute="on_conflict", **_described("What happens to a line whose user exists")
    )
    events = fields.Boolean(required=True, **_described("Whether each new user makes an event"))
    lines = fields.Integer(required=True, **_described("All lines, also empty ones"))
    read = fields.Integer(required=True, **_described("The lines with users that were processed"))
    created = fields.Integer(required=True, **_described("Lines that made a user"))
    updated = fields.Integer(required=True, **_described("Lines that changed an existing user"))
    skipped = fields.Integer(
        required=True, **_described("Lines without effect, because their user exists")
    )
    failed = fields.Integer(
        required=True, **_described("Lines that were refused; the list of errors has the reasons")
    )
    createdAt = Timestamp(required=True, attribute="created_at")
    finishedAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="finished_at",
        **_described("When it ended, in whatever way; `null`: it has not ended"),
    )
