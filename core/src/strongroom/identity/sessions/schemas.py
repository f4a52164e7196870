"""Request and response bodies of the login routes."""

from collections.abc import Mapping
from typing import Any

from marshmallow import EXCLUDE, INCLUDE, Schema, ValidationError, fields, pre_load, validates_schema

from strongroom.foundation.json_text import encode_json
from strongroom.identity.verification.schemas import CaptchaAnswerSchema, VerificationCodeSchema
from strongroom.plugin_api.schemas import ReferenceSchema, Timestamp
from strongroom.web.http.parsing import text

MAX_TEXT = 1024
MAX_TOKEN = 65_536
MAX_ANSWER = 16_384
_ALONE = {
    "challenge": "Must be absent with challenge.",
    "consent": "Must be absent with consent.",
}
_FIRST_STEP = ("username", "password", "verificationCode", "captcha", "newPassword", "acceptedTerms")


def require_short_json(value: Any) -> None:
    """Require that a JSON value of any form is short, because factors parse it.

    Raises:
        ValidationError: its JSON text is longer than :data:`MAX_ANSWER` characters.
    """
    if len(encode_json(value)) > MAX_ANSWER:
        raise ValidationError(f"Must have at most {MAX_ANSWER} characters as JSON.")


class ChallengeAnswerSchema(Schema):
    """The answer to a challenge: one further member, named by the `methods` of the challenge."""

    class Meta:
        unknown = INCLUDE

    id = text(64, required=True, metadata={"description": "`id` of the challenge"})

    @validates_schema
    def _require_short_answers(self, data: dict[str, Any], **_: Any) -> None:
        for name, value in data.items():
            try:
                require_short_json(value)
            except ValidationError as error:
                raise ValidationError(error.messages, name) from error


class ConsentSchema(Schema):
    """The consent to the terms, with the id of the login that needs it."""

    id = text(
        64, required=True, metadata={"description": "`id` of `consent` in `error.terms-not-accepted`"}
    )
    acceptedTerms = text(
        64,
        required=True,
        metadata={"description": "`version` of the terms that the user has seen and accepted"},
    )


class LoginSchema(Schema):
    """A login. Without a password it needs another proof.

    A login that requires a second factor is finished by a second request with `challenge` alone. The
    answer to a challenge of a factor that logs in alone may also be sent as
    `"passkey": {"challengeId": "...", "credential": {}}`.
    """

    username = text(MAX_TEXT, metadata={"description": "Required without `challenge`"})
    challenge = fields.Nested(
        ChallengeAnswerSchema,
        load_default=None,
        allow_none=True,
        unknown=INCLUDE,
        metadata={
            "description": "The answer of a second factor, alone: finishes a login that got a challenge"
        },
    )
    password = text(
        MAX_TEXT,
        load_default=None,
        allow_none=True,
        minimum=0,
        metadata={"description": "The user's current password"},
    )
    verificationCode = fields.Nested(
        VerificationCodeSchema,
        load_default=None,
        allow_none=True,
        metadata={
            "description": "A code for `login` that was sent to `username`, in place of a password"
        },
    )
    captcha = fields.Nested(
        CaptchaAnswerSchema,
        load_default=None,
        allow_none=True,
        metadata={"description": "Needed after `error.captcha-required`"},
    )
    newPassword = text(
        4 * MAX_TEXT,
        load_default=None,
        allow_none=True,
        metadata={"description": "With `password`: replaces it, if `error.password-change-required`"},
    )

    acceptedTerms = text(
        64,
        load_default=None,
        allow_none=True,
        metadata={"description": "The version of the terms that a user accepts who is registered by it"},
    )
    consent = fields.Nested(
        ConsentSchema,
        load_default=None,
        allow_none=True,
        metadata={"description": "Alone: continues a login after `error.terms-not-accepted`"},
    )

    @pre_load
    def _rename_answers(self, data: Any, **_: Any) -> Any:
        """Replace ``"KIND": {"challengeId", "credential"}`` by the answer to that challenge."""
        short = []
        for name, value in data.items() if isinstance(data, dict) else ():
            if isinstance(value, dict) and value.keys() == {"challengeId", "credential"}:
                short.append(name)
        if len(short) != 1 or data.get("challenge") is not None:
            return data
        (name,) = short
        answer = {"id": data[name]["challengeId"], name: data[name]["credential"]}
        rest = {key: value for key, value in data.items() if key != name}
        return {**rest, "challenge": answer}

    @validates_schema
    def _require_one_step(self, data: dict[str, Any], **_: Any) -> None:
        if data["challenge"] is not None:
            _require_alone("challenge", data)
        elif data["consent"] is not None:
            _require_alone("consent", data)
        elif "username" not in data:
            raise ValidationError("Missing data for required field.", "username")
        if data["challenge"] is not None and data["consent"] is not None:
            raise ValidationError("Must be absent with challenge.", "consent")
        if data["newPassword"] is not None and not data["password"]:
            raise ValidationError("Must be absent without a password.", "newPassword")


def _require_alone(step: str, data: Mapping[str, Any]) -> None:
    """Require that the data of a later step has no member of the first one.

    Raises:
        ValidationError: it has.
    """
    given = next((name for name in _FIRST_STEP if data.get(name) is not None), None)
    if given is not None:
        raise ValidationError(_ALONE[step], given)


class NewChallengeSchema(Schema):
    """The beginning of a login by a factor alone."""

    username = text(
        MAX_TEXT,
        load_default=None,
        allow_none=True,
        metadata={"description": "Absent: any user's answer is right"},
    )


class IssuedChallengeSchema(Schema):
    """A challenge that a factor alone meets."""

    challenge = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={
            "description": "`id`, `methods`, `expiresAt`, and what factors add, such as `publicKey`"
        },
    )


class RefreshSchema(Schema):
    """A refresh token, unless the header X-Refresh-Token carries it."""

    refreshToken = text(
        MAX_TEXT,
        load_default=None,
        allow_none=True,
        metadata={
            "description": "The newest refresh token of the login; reusing an older one ends the login"
        },
    )


class RevocationSchema(Schema):
    """The form of RFC 7009, section 2.1; other parameters are ignored (RFC 6749, section 3.2)."""

    class Meta:
        unknown = EXCLUDE

    token = text(
        MAX_TOKEN,
        required=True,
        metadata={"description": "An access token or a refresh token; its whole login ends"},
    )
    token_type_hint = text(64, metadata={"description": "Ignored: the form of the token shows its type"})


class AuthorizationSchema(Schema):
    """A login of a user, or the access of a client that the user lets act."""

    id = fields.String(
        required=True,
        metadata={"description": "Stands for a token in `DELETE /authorizations/{accessToken}`"},
    )
    method = fields.String(required=True, metadata={"description": "The login method"})
    amr = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "The proofs of the login (RFC 8176), such as `pwd`"},
    )
    acr = fields.String(required=True, metadata={"description": "How strongly the login is proven"})
    provenAt = Timestamp(
        required=True, attribute="auth_time", metadata={"description": "Time of the last proof"}
    )
    device = fields.String(
        required=True, allow_none=True, attribute="device_id", metadata={"description": "X-Device-Id"}
    )
    address = fields.String(
        required=True, metadata={"description": "The IP address that the login came from"}
    )
    userAgent = fields.String(
        required=True,
        attribute="user_agent",
        metadata={"description": "The `User-Agent` header of the login"},
    )
    createdAt = Timestamp(required=True, attribute="created_at")
    lastSeenAt = Timestamp(
        required=True, attribute="last_seen_at", metadata={"description": "To within a minute"}
    )
    expiresAt = Timestamp(
        required=True, attribute="expires_at", metadata={"description": "If not renewed"}
    )
    actor = fields.Nested(
        ReferenceSchema,
        required=True,
        allow_none=True,
        metadata={"description": "The administrator who impersonates the user"},
    )
    clientId = fields.String(
        required=True,
        allow_none=True,
        attribute="client_id",
        metadata={"description": "The client that the user lets act; null: a login"},
    )
    clientName = fields.String(
        required=True,
        allow_none=True,
        attribute="client_name",
        metadata={"description": "What the user knows the client by"},
    )
    current = fields.Boolean(required=True, metadata={"description": "Whether this request uses it"})


class JwkSetSchema(Schema):
    """A JWK Set (RFC 7517)."""

    keys = fields.List(
        fields.Dict(keys=fields.String()),
        required=True,
        metadata={"description": "The public keys as JWKs, by `kid`"},
    )


class LoginRequestSchema(Schema):
    """The request that begins a login for a client with pages of its own."""

    path = fields.String(required=True, metadata={"description": "The path of the operation, by POST"})
    body = fields.Dict(
        keys=fields.String(),
        values=fields.String(),
        required=True,
        metadata={"description": "The members of its body that choose the app or provider"},
    )


class LoginProviderSchema(Schema):
    """A way to log in that is a redirect to another platform."""

    name = fields.String(required=True, metadata={"description": "Unique among all providers"})
    kind = fields.String(
        required=True, allow_none=True, metadata={"description": "The name of its login method"}
    )
    displayName = fields.String(required=True, metadata={"description": "The name of the platform"})
    label = fields.String(required=True, metadata={"description": "The text of a button"})
    iconUrl = fields.Url(required=True, allow_none=True, metadata={"description": "A picture"})
    loginUrl = fields.Url(
        required=True,
        metadata={"description": "Begins a login that ends on the login page of this server"},
    )
    showsQrCode = fields.Boolean(
        required=True, metadata={"description": "Whether the page of the platform shows a QR code"}
    )
    worksIn = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "Words in the User-Agent of browsers that it needs; empty: any"},
    )
    failsIn = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "Words in the User-Agent of browsers that it does not work in"},
    )
    request = fields.Nested(
        LoginRequestSchema,
        required=True,
        allow_none=True,
        metadata={"description": "The request that begins a login on pages of the client's own"},
    )
