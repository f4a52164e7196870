"""JSON of the REST API."""

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from strongroom.plugin_api.schemas import Timestamp
from strongroom_oidc_provider.claim_rules import (
    FORMS,
    GROUP_SOURCE,
    ID_TOKEN,
    IDS,
    MAX_RULES,
    NAMES,
    SERVER_DATA,
    SOURCES,
    TENANT_ROLE,
    TOKENS,
    is_acceptable_name,
)
from strongroom_oidc_provider.clients.redirect_uris import MAX_LENGTH
from strongroom_oidc_provider.scopes import LOGIN_SCOPES, SCOPE

_NAME = validate.Length(1, 255)
_MANY = validate.Length(max=50)
_URI = validate.Length(1, MAX_LENGTH)
_ID = validate.Length(1, 36)
_SCOPE = validate.Regexp(rf"{SCOPE.pattern}\Z", error="Must be a scope such as files:read.")
_RESOURCE = validate.Regexp(
    r"https?://[!-\"$-~]{1,500}\Z", error="Must be an http or https URI without a fragment."
)
_COLOR = validate.Regexp(r"#[0-9A-Fa-f]{6}\Z", error="Must be a colour such as #1456b8.")
_HTTPS = validate.And(
    validate.Length(max=512),
    validate.Regexp(
        r"https://[A-Za-z0-9.-]+(:[0-9]{1,5})?([/?#][!#-;=?-\[\]_a-z~]*)?\Z",
        error="Must be an https URL such as https://example.com/terms.",
    ),
)
_LONGEST_PICTURE = 140_000  # characters: 100 KB in Base64, with lines
_WEEK = 7 * 24 * 60 * 60

_NAME_TEXT = "What users see of the client, such as on the page of their consent"
_URIS_TEXT = (
    "Where browsers return to, compared character by character: https URLs, loopback URLs, and of "
    "public clients URIs of a scheme such as `com.example.app:/callback`. The port of a loopback URL "
    "of a public client is free"
)
_SCOPES_TEXT = "The scopes that the client may request: of OpenID Connect, of the REST API, or others"
_RESOURCES_TEXT = "URIs of other services that the client may request tokens for (RFC 8707)"
_LOGOUT_URIS_TEXT = (
    "Where browsers may go on to after a logout that the client has begun, compared character by "
    "character"
)
_BACKCHANNEL_TEXT = (
    "URL that the server reports the end of a login to, by a signed token (OpenID Connect Back-Channel "
    "Logout); null: none"
)
_ACCOUNT_TEXT = (
    "Id of the service account that the client acts as, without a user, by the grant "
    "`client_credentials`; null: none. The caller manages the account, and the client has a secret"
)
_ACCENT_TEXT = (
    "The colour of buttons and links on the pages of logins and consents, as `#rrggbb`; null: the "
    "server's. Links are a darker or lighter shade where the contrast would be below 4.5"
)
_TERMS_TEXT = "The terms of service of the client: an https URL"
_PRIVACY_TEXT = "The privacy policy of the client: an https URL"
_DEVICE_TEXT = (
    "Whether its users may log in on another device, by a code that the client shows (RFC 8628)"
)
_TRUSTED_TEXT = "Whether users are not asked for their consent; for applications of the operator"


_CLAIMS_TEXT = (
    "The claims about groups and roles that the client gets, if it requests the scope `groups` or "
    "`roles`; by default none"
)


class ClaimRuleSchema(Schema):
    """A claim about groups or roles."""

    name = fields.String(
        required=True,
        validate=validate.Length(1, 100),
        metadata={"description": "Name of the claim; not one of a protocol, such as `sub`"},
    )
    source = fields.String(
        required=True,
        validate=validate.OneOf(SOURCES),
        metadata={
            "description": "`groups`: groups of tenants, by the scope `groups`; by the scope `roles`, "
            "`tenant-roles`: the role in tenants, `server-role`: `ADMIN` or `USER`, `server-data`: a "
            "member of the server's data about the user"
        },
    )
    tenants = fields.List(
        fields.String(validate=_ID),
        load_default=list,
        validate=_MANY,
        metadata={"description": "Ids of the only tenants that are read; required for the first two"},
    )
    groups = fields.List(
        fields.String(validate=_ID),
        load_default=list,
        validate=validate.Length(max=200),
        metadata={"description": "Ids of the only groups; empty: all groups of the tenants"},
    )
    field = fields.String(
        load_default=None,
        allow_none=True,
        validate=validate.Length(1, 100),
        metadata={"description": "The member of the server's data: a text, or a list of texts"},
    )
    form = fields.String(
        load_default=IDS,
        validate=validate.OneOf(FORMS),
        metadata={
            "description": "`ids`, which never change, or `names`, of one tenant only; a role is "
            "`TENANT_ID:ROLE` or `ROLE`"
        },
    )
    tokens = fields.List(
        fields.String(validate=validate.OneOf(TOKENS)),
        load_default=lambda: [ID_TOKEN],
        validate=validate.Length(max=len(TOKENS)),
        metadata={
            "description": "The tokens that have the claim: `id_token`, and `access_token` for "
            "resources of the client; the endpoint for user information always has it"
        },
    )

    @validates_schema(skip_on_field_errors=True)
    def _require_valid(self, data: dict[str, Any], **_: Any) -> None:
        if not is_acceptable_name(data["name"]):
            raise ValidationError("Must be a name such as groups, and none of a protocol.", "name")
        has_tenants = data["source"] in (GROUP_SOURCE, TENANT_ROLE)
        if has_tenants != bool(data["tenants"]):
            raise ValidationError("Groups and roles of tenants need tenants, others none.", "tenants")
        if data["groups"] and data["source"] != GROUP_SOURCE:
            raise ValidationError("Only a claim about groups has groups.", "groups")
        if (data["source"] == SERVER_DATA) != (data["field"] is not None):
            raise ValidationError("The server's data need a field, others none.", "field")
        # Administrators of another tenant could give a group the same name.
        if has_tenants and data["form"] == NAMES and len(data["tenants"]) != 1:
            raise ValidationError("Names are unique in one tenant only.", "form")


class _ClaimedSchema(Schema):
    """Has the claims of a client."""

    @validates_schema(skip_on_field_errors=True)
    def _require_unique(self, data: dict[str, Any], **_: Any) -> None:
        names = [rule["name"] for rule in data.get("claims", ())]
        if len(names) != len(set(names)):
            raise ValidationError("Two claims have the same name.", "claims")


class _BrandSchema(_ClaimedSchema):
    """What the pages of logins and consents show of a client."""

    accent = fields.String(
        allow_none=True, validate=_COLOR, metadata={"description": _ACCENT_TEXT, "example": "#0b7f62"}
    )
    termsUrl = fields.String(
        allow_none=True,
        validate=_HTTPS,
        metadata={"description": _TERMS_TEXT},
    )
    privacyUrl = fields.String(
        allow_none=True,
        validate=_HTTPS,
        metadata={"description": _PRIVACY_TEXT},
    )


class NewClientSchema(_BrandSchema):
    """An application that will log its users in here."""

    name = fields.String(required=True, validate=_NAME, metadata={"description": _NAME_TEXT})
    redirectUris = fields.List(
        fields.String(validate=_URI),
        load_default=list,
        validate=_MANY,
        metadata={"description": _URIS_TEXT},
    )
    public = fields.Boolean(
        load_default=False,
        metadata={"description": "Whether it cannot keep a secret, such as an app; it gets none"},
    )
    trusted = fields.Boolean(load_default=False, metadata={"description": _TRUSTED_TEXT})
    scopes = fields.List(
        fields.String(validate=_SCOPE),
        load_default=list(LOGIN_SCOPES),
        validate=_MANY,
        metadata={"description": _SCOPES_TEXT},
    )
    resources = fields.List(
        fields.String(validate=_RESOURCE),
        load_default=list,
        validate=_MANY,
        metadata={"description": _RESOURCES_TEXT},
    )
    postLogoutRedirectUris = fields.List(
        fields.String(validate=_URI),
        load_default=list,
        validate=_MANY,
        metadata={"description": _LOGOUT_URIS_TEXT},
    )
    backchannelLogoutUri = fields.String(
        load_default=None,
        allow_none=True,
        validate=_URI,
        metadata={"description": _BACKCHANNEL_TEXT},
    )
    serviceAccountId = fields.String(
        load_default=None, allow_none=True, validate=_ID, metadata={"description": _ACCOUNT_TEXT}
    )
    deviceLogin = fields.Boolean(load_default=False, metadata={"description": _DEVICE_TEXT})
    claims = fields.List(
        fields.Nested(ClaimRuleSchema),
        load_default=list,
        validate=validate.Length(max=MAX_RULES),
        metadata={"description": _CLAIMS_TEXT},
    )


class ClientChangesSchema(_BrandSchema):
    """A new state of some members; absent ones stay as they are."""

    revision = fields.Integer(required=True, strict=True)
    name = fields.String(validate=_NAME, metadata={"description": _NAME_TEXT})
    redirectUris = fields.List(
        fields.String(validate=_URI), validate=_MANY, metadata={"description": _URIS_TEXT}
    )
    trusted = fields.Boolean(metadata={"description": _TRUSTED_TEXT})
    scopes = fields.List(
        fields.String(validate=_SCOPE), validate=_MANY, metadata={"description": _SCOPES_TEXT}
    )
    resources = fields.List(
        fields.String(validate=_RESOURCE), validate=_MANY, metadata={"description": _RESOURCES_TEXT}
    )
    postLogoutRedirectUris = fields.List(
        fields.String(validate=_URI), validate=_MANY, metadata={"description": _LOGOUT_URIS_TEXT}
    )
    backchannelLogoutUri = fields.String(
        allow_none=True, validate=_URI, metadata={"description": _BACKCHANNEL_TEXT}
    )
    serviceAccountId = fields.String(
        allow_none=True, validate=_ID, metadata={"description": _ACCOUNT_TEXT}
    )
    deviceLogin = fields.Boolean(metadata={"description": _DEVICE_TEXT})
    claims = fields.List(
        fields.Nested(ClaimRuleSchema),
        validate=validate.Length(max=MAX_RULES),
        metadata={"description": _CLAIMS_TEXT},
    )


class ClientSchema(Schema):
    """An application that logs its users in here, or uses the REST API on their behalf."""

    id = fields.String(required=True, metadata={"description": "The `client_id`"})
    name = fields.String(required=True, metadata={"description": _NAME_TEXT})
    public = fields.Boolean(
        required=True,
        attribute="is_public",
        metadata={"description": "Whether it cannot keep a secret, such as an app"},
    )
    trusted = fields.Boolean(
        required=True, attribute="is_trusted", metadata={"description": _TRUSTED_TEXT}
    )
    redirectUris = fields.List(
        fields.String(),
        required=True,
        attribute="redirect_uris",
        metadata={"description": _URIS_TEXT},
    )
    scopes = fields.List(fields.String(), required=True, metadata={"description": _SCOPES_TEXT})
    resources = fields.List(fields.String(), required=True, metadata={"description": _RESOURCES_TEXT})
    postLogoutRedirectUris = fields.List(
        fields.String(),
        required=True,
        attribute="post_logout_redirect_uris",
        metadata={"description": _LOGOUT_URIS_TEXT},
    )
    backchannelLogoutUri = fields.String(
        required=True,
        allow_none=True,
        attribute="backchannel_logout_uri",
        metadata={"description": _BACKCHANNEL_TEXT},
    )
    serviceAccountId = fields.String(
        required=True,
        allow_none=True,
        attribute="service_account_id",
        metadata={"description": _ACCOUNT_TEXT},
    )
    accent = fields.String(required=True, allow_none=True, metadata={"description": _ACCENT_TEXT})
    termsUrl = fields.String(
        required=True,
        allow_none=True,
        attribute="terms_url",
        metadata={"description": _TERMS_TEXT},
    )
    privacyUrl = fields.String(
        required=True,
        allow_none=True,
        attribute="privacy_url",
        metadata={"description": _PRIVACY_TEXT},
    )
    logo = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The path of its logo, below the public URL; null without one"},
    )
    disabledAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="disabled_at",
        metadata={"description": "Since when it cannot log its users in; null: it can"},
    )
    deviceLogin = fields.Boolean(
        required=True, attribute="has_device_login", metadata={"description": _DEVICE_TEXT}
    )
    selfRegistered = fields.Boolean(
        required=True,
        attribute="is_self_registered",
        metadata={"description": "Whether it has registered itself, and chosen its name (RFC 7591)"},
    )
    claims = fields.List(
        fields.Nested(ClaimRuleSchema), required=True, metadata={"description": _CLAIMS_TEXT}
    )
    revision = fields.Integer(required=True)
    createdAt = Timestamp(required=True, attribute="created_at")
    updatedAt = Timestamp(required=True, attribute="updated_at")


class NewClientWithSecretSchema(ClientSchema):
    """A new client with its secret."""

    secret = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The `client_secret`, which is shown once; null: a public client"},
    )


class ClientSecretRotationSchema(Schema):
    """How long the former secret remains valid."""

    overlapSeconds = fields.Integer(
        load_default=24 * 60 * 60,
        strict=True,
        validate=validate.Range(0, _WEEK),
        metadata={
            "description": "Seconds for which both secrets are valid; 0: the former one ends at once"
        },
    )


class ClientSecretSchema(Schema):
    """The new secret of a client."""

    secret = fields.String(
        required=True, metadata={"description": "The `client_secret`, which is shown once"}
    )


class ConsentSchema(Schema):
    """What a user has let a client do."""

    id = fields.String(
        required=True,
        attribute="key",
        metadata={"description": "Id in paths: `clientId`, or a hash of it if it is a URL"},
    )
    clientId = fields.String(
        required=True, attribute="client_id", metadata={"description": "Id of the client"}
    )
    clientName = fields.String(
        required=True, attribute="name", metadata={"description": "What users see of the client"}
    )
    resource = fields.String(
        required=True,
        metadata={"description": "URI of the service that its tokens are for; empty: the client itself"},
    )
    scopes = fields.List(
        fields.String(), required=True, metadata={"description": "The scopes that the user has allowed"}
    )
    tenantId = fields.String(
        required=True,
        allow_none=True,
        attribute="tenant_id",
        metadata={"description": "The only tenant that the client reaches; null: all"},
    )
    fileId = fields.String(
        required=True,
        allow_none=True,
        attribute="file_id",
        metadata={"description": "The only folder that the client reaches; null: all"},
    )
    createdAt = Timestamp(required=True, attribute="created_at")
    updatedAt = Timestamp(required=True, attribute="updated_at")
    lastUsedAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="last_used_at",
        metadata={
            "description": "When the client last used a grant that has not ended; null: it has none"
        },
    )


class ConsentsSchema(Schema):
    """The consents of a user."""

    data = fields.List(
        fields.Nested(ConsentSchema),
        required=True,
        metadata={"description": "The consents, by the names of the clients"},
    )


class ClientLogoSchema(Schema):
    """A picture of a client."""

    picture = fields.String(
        required=True,
        validate=validate.Length(1, _LONGEST_PICTURE),
        metadata={"description": "A PNG or SVG of at most 100 KB, in Base64 (RFC 4648, section 4)"},
    )


class LiveSecretSchema(Schema):
    """A secret of a client that is valid, without the secret itself."""

    createdAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="created_at",
        metadata={"description": "When it was created; null: by a former version, which stored no time"},
    )
    endsAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="ends_at",
        metadata={"description": "When it ends; null: at the next rotation"},
    )


class ClientUsageSchema(Schema):
    """Who uses a client, and by which secrets it authenticates."""

    users = fields.Integer(
        required=True,
        metadata={"description": "Users who have consented to it; trusted clients need no consent"},
    )
    lastUsedAt = Timestamp(
        required=True,
        allow_none=True,
        attribute="last_used_at",
        metadata={"description": "When it last used a grant that has not ended; null: it has none"},
    )
    secrets = fields.List(
        fields.Nested(LiveSecretSchema),
        required=True,
        metadata={"description": "The secrets that are valid, the newest first"},
    )
