"""The JSON of access keys."""

from marshmallow import Schema, ValidationError, fields, validate

from strongroom.foundation.addresses import parse_network
from strongroom.identity.accounts.schemas import ProofSchema
from strongroom.plugin_api.authentication import Scope
from strongroom.plugin_api.schemas import Timestamp
from strongroom.web.http.parsing import identifier, name_text, text

MAX_NAME = 255
MAX_ADDRESSES = 16
MAX_LEAKED = 100
MAX_OVERLAP_SECONDS = 30 * 24 * 3600

_SCOPES = [scope.value for scope in Scope]


def _require_network(value: str) -> None:
    try:
        parse_network(value)
    except ValueError as error:
        raise ValidationError("Must be a network such as 192.0.2.0/24.") from error


class KeyChangeSchema(Schema):
    """A new name."""

    name = name_text(
        MAX_NAME, required=True, metadata={"description": "What the owner sees in the list of keys"}
    )


class NewServiceKeySchema(ProofSchema):
    """An access key of a service account, which is limited to the tenant of the account."""

    name = name_text(
        MAX_NAME, required=True, metadata={"description": "What the owner sees in the list of keys"}
    )
    scopes = fields.List(
        fields.String(validate=validate.OneOf(_SCOPES)),
        required=True,
        validate=validate.Length(min=1, max=len(_SCOPES)),
        metadata={
            "description": "What the key may do. A key with a tenant or a folder can have fewer of them"
        },
    )
    fileId = identifier(
        load_default=None,
        allow_none=True,
        attribute="folder_id",
        metadata={"description": "The only folder, with its subtree, that the key reaches"},
    )
    expiresAt = Timestamp(
        load_default=None,
        allow_none=True,
        attribute="expires_at",
        metadata={"description": "By default, after `access_keys.default_lifetime_days`"},
    )
    addresses = fields.List(
        fields.String(validate=[validate.Length(max=64), _require_network]),
        load_default=list,
        validate=validate.Length(max=MAX_ADDRESSES),
        metadata={"description": "The networks that may use the key; empty: all"},
    )


class NewKeySchema(NewServiceKeySchema):
    """An access key of the caller, with a fresh proof unless the login is at most 10 minutes old."""

    tenantId = identifier(
        load_default=None,
        allow_none=True,
        attribute="tenant_id",
        metadata={"description": "The only tenant that the key reaches; required with fileId"},
    )


class RotationSchema(ProofSchema):
    """A rotation of an access key."""

    overlapSeconds = fields.Integer(
        strict=True,
        load_default=0,
        validate=validate.Range(min=0, max=MAX_OVERLAP_SECONDS),
        metadata={"description": "Seconds for which the previous secret remains valid"},
    )


class AccessKeySchema(Schema):
    """An access key, without its secret."""

    id = fields.String(
        required=True, metadata={"description": "Names the key in URLs; it is not secret"}
    )
    name = fields.String(
        required=True, metadata={"description": "What the owner sees in the list of keys"}
    )
    scopes = fields.List(
        fields.String(validate=validate.OneOf(_SCOPES)),
        required=True,
        metadata={"description": "What the key may do, within the rights of its user"},
    )
    tenantId = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "The only tenant that the key reaches; `null`: all tenants of its user"
        },
    )
    fileId = fields.String(
        required=True,
        allow_none=True,
        metadata={
            "description": "The only folder, with its subtree, that the key reaches; `null`: no such "
            "limit"
        },
    )
    addresses = fields.List(
        fields.String(),
        required=True,
        metadata={"description": "The networks that may use the key; empty: all"},
    )
    createdAt = Timestamp(required=True)
    expiresAt = Timestamp(
        required=True, metadata={"description": "When requests with the key are refused"}
    )
    lastUsedAt = Timestamp(required=True, allow_none=True, metadata={"description": "To within an hour"})
    lastUsedFrom = fields.String(
        required=True, allow_none=True, metadata={"description": "The client's address"}
    )


class CreatedKeySchema(AccessKeySchema):
    """An access key with its secret, which no other response contains."""

    key = fields.String(required=True, metadata={"description": "Send it as `Authorization: Bearer`"})


class LeakedKeysSchema(Schema):
    """Access keys that were found in a public place."""

    keys = fields.List(
        text(256),
        required=True,
        validate=validate.Length(min=1, max=MAX_LEAKED),
        metadata={"description": "The whole keys, as found; unknown texts are ignored"},
    )


class RevokedKeysSchema(Schema):
    """The result of a report of leaked keys."""

    revoked = fields.Integer(required=True, metadata={"description": "The number of revoked keys"})
