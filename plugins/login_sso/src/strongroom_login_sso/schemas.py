"""JSON of the REST API."""

from typing import Any, Final

from marshmallow import Schema, fields, validate

from strongroom.plugin_api.schemas import Timestamp
from strongroom_login_sso.names import MAX_ADDRESS

_ID: Final = validate.Length(1, 36)
_CLAIM: Final = validate.Length(1, 128)
_ROLE: Final = validate.OneOf(["member", "records"])

_LABEL: Final = {"description": "What people and administrators call it, such as `Acme`"}
_ISSUER: Final = {
    "description": "The issuer, an https URL; it never changes, because another one has other people"
}
_SCOPES: Final = {"description": "The scopes that are requested; `openid` is one of them"}
_RULES: Final = {"description": "What values of claims give, at each login"}
_DEFAULT_ROLE: Final = {"description": "The role of new members: `member` or `records`"}
_JOINS: Final = {"description": "Whether people without a membership become members by their login"}
_ADDRESSES: Final = {
    "description": "Whether addresses count as verified that the provider does not state to be, as with "
    "Entra ID; only for a provider whose administrators alone set them"
}


class NewDomainSchema(Schema):
    """A domain of a company."""

    domain = fields.String(
        required=True,
        validate=validate.Length(1, 253),
        metadata={"description": "Such as `acme.example`; without its subdomains, which are others"},
    )


class DomainSchema(Schema):
    """A domain that a tenant claims, and its proof."""

    id = fields.String(required=True, metadata={"description": "Identifies the domain in paths"})
    domain = fields.String(required=True, metadata={"description": "In lowercase, as A-labels"})
    isProven = fields.Boolean(
        required=True,
        attribute="is_proven",
        metadata={"description": "Whether people with such addresses log in by single sign-on now"},
    )
    recordName = fields.String(
        required=True, attribute="record_name", metadata={"description": "The name of the TXT record"}
    )
    recordValue = fields.String(
        required=True, attribute="record_value", metadata={"description": "The text of the TXT record"}
    )
    createdAt = Timestamp(required=True, attribute="created_at")
    verifiedAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="verified_at",
        metadata={"description": "When it was first proven; null: not yet, or another tenant's by now"},
    )
    checkedAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="checked_at",
        metadata={"description": "When DNS last answered; it is asked once a day"},
    )
    lostSince = Timestamp(
        required=True,
        allow_none=True,
        attribute="lost_since",
        metadata={"description": "Since when DNS has no such record; null: it has"},
    )
    countsUntil = Timestamp(
        required=True,
        allow_none=True,
        attribute="ends_at",
        metadata={"description": "Until when it counts if no check finds the record; null: not at all"},
    )


class RuleSchema(Schema):
    """What a value of a claim gives."""

    claim = fields.String(
        required=True,
        validate=_CLAIM,
        metadata={"description": "The claim, or a path to one such as `realm_access.roles`"},
    )
    value = fields.String(
        required=True,
        validate=validate.Length(1, 255),
        metadata={"description": "The value that it has, alone or in a list"},
    )
    group = fields.String(
        load_default=None,
        allow_none=True,
        validate=_ID,
        metadata={"description": "The id of the group of the tenant; null: none"},
    )
    role = fields.String(
        load_default=None,
        allow_none=True,
        validate=_ROLE,
        metadata={"description": "The role of a new member; null: the default role"},
    )


class ClaimsSchema(Schema):
    """The names of claims."""

    name = fields.String(
        load_default="name", validate=_CLAIM, metadata={"description": "Name of a new user"}
    )
    email = fields.String(
        load_default="email", validate=_CLAIM, metadata={"description": "E-mail address"}
    )
    emailVerified = fields.String(
        load_default="email_verified",
        validate=_CLAIM,
        metadata={"description": "Whether the provider has verified the address"},
    )


def _secret(**options: Any) -> fields.String:
    return fields.String(
        validate=validate.Length(1, 1024),
        load_only=True,
        metadata={"description": "The secret of the client; no answer has it"},
        **options,
    )


def _label(**options: Any) -> fields.String:
    return fields.String(validate=validate.Length(1, 64), metadata=_LABEL, **options)


def _client_id(**options: Any) -> fields.String:
    return fields.String(
        validate=validate.Length(1, 255),
        metadata={"description": "The id of the client that is registered at the provider"},
        **options,
    )


def _scopes(**options: Any) -> fields.List[str]:
    scope = fields.String(validate=validate.Regexp(r"[!#-\[\]-~]{1,128}\Z"))
    return fields.List(scope, validate=validate.Length(1, 20), metadata=_SCOPES, **options)


def _rules(**options: Any) -> fields.List[Any]:
    return fields.List(
        fields.Nested(RuleSchema), validate=validate.Length(max=100), metadata=_RULES, **options
    )


class NewIdentityProviderSchema(Schema):
    """An OpenID provider of a tenant."""

    label = _label(required=True)
    issuer = fields.String(required=True, validate=validate.Length(1, 512), metadata=_ISSUER)
    clientId = _client_id(required=True)
    clientSecret = _secret(required=True)
    scopes = _scopes(load_default=lambda: ["openid", "email", "profile"])
    claims = fields.Nested(
        ClaimsSchema,
        load_default=lambda: {"name": "name", "email": "email", "emailVerified": "email_verified"},
        metadata={"description": "The names of claims"},
    )
    rules = _rules(load_default=list)
    defaultRole = fields.String(load_default="member", validate=_ROLE, metadata=_DEFAULT_ROLE)
    joins = fields.Boolean(load_default=True, metadata=_JOINS)
    addressesVerified = fields.Boolean(load_default=False, metadata=_ADDRESSES)


class IdentityProviderChangesSchema(Schema):
    """A new state of some members; absent ones stay as they are."""

    revision = fields.Integer(strict=True)
    label = _label()
    clientId = _client_id()
    clientSecret = _secret()
    scopes = _scopes()
    claims = fields.Nested(ClaimsSchema, metadata={"description": "The names of claims"})
    rules = _rules()
    defaultRole = fields.String(validate=_ROLE, metadata=_DEFAULT_ROLE)
    joins = fields.Boolean(metadata=_JOINS)
    addressesVerified = fields.Boolean(metadata=_ADDRESSES)
    enforced = fields.Boolean(
        metadata={
            "description": "Whether members with an address in a proven domain must log in by it. "
            "Turning it on ends their other logins"
        }
    )
    breakGlassIds = fields.List(
        fields.String(validate=_ID),
        validate=validate.Length(max=10),
        metadata={
            "description": "Administrators with a second factor who may always log in otherwise; "
            "at least one while the provider is enforced"
        },
    )


class ClaimNamesSchema(Schema):
    """Which claims of an ID token say what about its person."""

    name = fields.String(required=True, metadata={"description": "Name of a new user"})
    email = fields.String(required=True, metadata={"description": "E-mail address"})
    emailVerified = fields.String(
        required=True,
        attribute="email_verified",
        metadata={"description": "Whether the provider has verified the address"},
    )


class GivenRuleSchema(Schema):
    """What a value of a claim gives."""

    claim = fields.String(
        required=True,
        metadata={"description": "The claim, or a path to one such as `realm_access.roles`"},
    )
    value = fields.String(
        required=True, metadata={"description": "The value that it has, alone or in a list"}
    )
    group = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The id of the group of the tenant; null: none"},
    )
    role = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The role of a new member; null: the default role"},
    )


class IdentityProviderSchema(Schema):
    """An OpenID provider of a tenant, without the secret of its client."""

    id = fields.String(
        required=True, metadata={"description": "Identifies it in paths, and in its users' credentials"}
    )
    label = fields.String(required=True, metadata=_LABEL)
    issuer = fields.String(required=True, metadata=_ISSUER)
    clientId = fields.String(
        required=True,
        attribute="client_id",
        metadata={"description": "The id of the client that is registered at the provider"},
    )
    redirectUri = fields.String(
        required=True,
        attribute="redirect_uri",
        metadata={"description": "The redirect URI to register at the provider"},
    )
    scopes = fields.List(fields.String(), required=True, metadata=_SCOPES)
    claims = fields.Nested(
        ClaimNamesSchema, required=True, metadata={"description": "The names of claims"}
    )
    rules = fields.List(fields.Nested(GivenRuleSchema), required=True, metadata=_RULES)
    defaultRole = fields.String(required=True, attribute="default_role", metadata=_DEFAULT_ROLE)
    joins = fields.Boolean(required=True, metadata=_JOINS)
    addressesVerified = fields.Boolean(
        required=True, attribute="addresses_verified", metadata=_ADDRESSES
    )
    enforced = fields.Boolean(
        required=True,
        metadata={"description": "Whether members with an address in a proven domain must log in by it"},
    )
    breakGlassIds = fields.List(
        fields.String(),
        required=True,
        attribute="break_glass_ids",
        metadata={"description": "Administrators who may always log in otherwise"},
    )
    triedAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="tried_at",
        metadata={"description": "When an administrator of the tenant last logged in by it"},
    )
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True, attribute="created_at")
    updatedAt = Timestamp(required=True, attribute="updated_at")


class CheckedSchema(Schema):
    """Whether a provider answers."""

    problem = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "What is wrong, for administrators; null: nothing"},
    )


class LoginRouteRequestSchema(Schema):
    """What a person has entered on a login page."""

    email = fields.Email(
        required=True,
        validate=validate.Length(max=MAX_ADDRESS),
        metadata={"description": "An e-mail address"},
    )


class RouteRequestSchema(Schema):
    """The request by which a client of the REST API begins the login."""

    path = fields.String(required=True, metadata={"description": "Its path, with the base path"})
    body = fields.Dict(required=True, metadata={"description": "Its JSON body"})


class RouteProviderSchema(Schema):
    """The provider that people of a domain log in by."""

    name = fields.String(required=True, metadata={"description": "The id of the provider"})
    displayName = fields.String(required=True, metadata={"description": "What its tenant calls it"})
    loginUrl = fields.String(required=True, metadata={"description": "Where a browser begins the login"})
    request = fields.Nested(
        RouteRequestSchema,
        required=True,
        metadata={"description": "How a client of the REST API begins it"},
    )


class LoginRouteSchema(Schema):
    """How people with an address log in; the same for each address of a domain."""

    provider = fields.Nested(
        RouteProviderSchema,
        required=True,
        allow_none=True,
        metadata={"description": "The provider of the company; null: none is known"},
    )
    enforced = fields.Boolean(
        required=True, metadata={"description": "Whether members can log in in no other way"}
    )
