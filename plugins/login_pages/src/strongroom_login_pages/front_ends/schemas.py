"""Request and response bodies of the route."""

from marshmallow import Schema, fields, validate


class LoginCodeSchema(Schema):
    """A login code, with the verifier of its code challenge."""

    code = fields.String(required=True, validate=validate.Length(1, 128))
    codeVerifier = fields.String(required=True, validate=validate.Length(43, 128))


class LoginPageUserSchema(Schema):
    """The user who has logged in."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    type = fields.String(required=True)


class LoginPageTokensSchema(Schema):
    """The tokens of the login, as `POST /authorizations` returns them."""

    accessToken = fields.String(required=True)
    expiresAt = fields.String(required=True)
    refreshToken = fields.String(required=True)
    refreshExpiresAt = fields.String(required=True)
    user = fields.Nested(LoginPageUserSchema, required=True)
    secondFactorDueAt = fields.String(
        metadata={"description": "Time until which the user must enrol a second factor, if any"}
    )
