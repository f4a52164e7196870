"""JSON of the routes."""

from typing import Final

from marshmallow import Schema, ValidationError, fields, validate

from strongroom.plugin_api.names import name_fault
from strongroom.plugin_api.schemas import Timestamp

_MAX_NAME: Final = 64


def _require_name(name: str) -> None:
    if name and (fault := name_fault(name)):
        raise ValidationError(fault)


class RelatedOriginsSchema(Schema):
    """The origins whose pages may use the server's passkeys."""

    origins = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "Origins such as `https://accounts.example.com`"},
    )


class PasskeyEndpointsSchema(Schema):
    """The pages for passkeys, in the form that password managers expect."""

    enroll = fields.String(metadata={"description": "The page to add a passkey"})
    manage = fields.String(metadata={"description": "The page to manage passkeys"})


class NewChallengeSchema(Schema):
    """An empty JSON object."""


class NewPasskeySchema(Schema):
    """A created credential."""

    challengeId = fields.String(
        required=True,
        validate=validate.Length(1, 64),
        metadata={"description": "`id` of the challenge that the browser has answered"},
    )
    name = fields.String(
        load_default="",
        validate=[validate.Length(0, _MAX_NAME), _require_name],
        metadata={"description": "A name for the user's list, such as the device's"},
    )
    credential = fields.Dict(
        keys=fields.String(), required=True, metadata={"description": "`credential.toJSON()`"}
    )


class PasskeyNameSchema(Schema):
    """The name that a passkey gets."""

    name = fields.String(
        required=True,
        validate=[validate.Length(0, _MAX_NAME), _require_name],
        metadata={"description": "A name for the user's list; empty: none"},
    )


class PasskeyChallengeSchema(Schema):
    """What ``navigator.credentials`` of the browser needs."""

    id = fields.String(required=True, metadata={"description": "For the request that sends the answer"})
    publicKey = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={"description": "Options as JSON (WebAuthn Level 3, section 5.1.8)"},
    )
    expiresAt = Timestamp(
        required=True,
        metadata={"description": "Until when the answer is accepted, in UTC"},
    )
