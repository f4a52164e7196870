"""JSON of the routes."""

from marshmallow import Schema, ValidationError, fields, validate

from strongroom.plugin_api.names import name_fault


def _require_name(name: str) -> None:
    if name and (fault := name_fault(name)):
        raise ValidationError(fault)


class NewTotpSchema(Schema):
    """An authenticator app."""

    name = fields.String(
        load_default="",
        validate=[validate.Length(0, 64), _require_name],
        metadata={"description": "A name for the user's list"},
    )


class TotpSecretSchema(Schema):
    """What the app needs, each alone."""

    secret = fields.String(required=True, metadata={"description": "In base 32"})
    uri = fields.String(required=True, metadata={"description": "With the scheme `otpauth`"})
    qr = fields.String(required=True, metadata={"description": "The URI as a QR code in SVG"})


class TotpCodeSchema(Schema):
    """A code of the app."""

    code = fields.String(
        required=True,
        validate=validate.Length(1, 64),
        metadata={"description": "The digits that the app shows now"},
    )


class TotpConfirmedSchema(Schema):
    """The recovery codes."""

    recoveryCodes = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "Shown only once; empty for a user who has a sheet of them already"},
    )
