"""Request and response bodies of the route."""

from marshmallow import Schema, fields, validate


class LoginCodeSchema(Schema):
    """A login code, with the verifier of its code challenge."""

    code = fields.String(
        required=True,
        validate=validate.Length(1, 128),
        metadata={
            "description": "From the URL to which the login page has returned, valid once and for a "
            "minute"
        },
    )
    codeVerifier = fields.String(
        required=True,
        validate=validate.Length(43, 128),
        metadata={"description": "43 to 128 characters, whose SHA-256 was `codeChallenge`"},
    )


class LoginPageUserSchema(Schema):
    """The user who has logged in."""

    id = fields.String(required=True, metadata={"description": "Identifies the user in paths"})
    name = fields.String(required=True, metadata={"description": "The display name"})
    type = fields.String(required=True, metadata={"description": "`USER` or `ADMIN`"})


class LoginPageTokensSchema(Schema):
    """The tokens of the login, as `POST /authorizations` returns them."""

    accessToken = fields.String(
        required=True, metadata={"description": "For the header `Authorization: Bearer`"}
    )
    expiresAt = fields.String(
        required=True, metadata={"description": "When the access token expires, in UTC"}
    )
    refreshToken = fields.String(
        required=True, metadata={"description": "For a new access token; used once"}
    )
    refreshExpiresAt = fields.String(
        required=True, metadata={"description": "When the refresh token expires, in UTC"}
    )
    user = fields.Nested(
        LoginPageUserSchema, required=True, metadata={"description": "The user who has logged in"}
    )
    secondFactorDueAt = fields.String(
        metadata={"description": "Time until which the user must enrol a second factor, if any"}
    )
