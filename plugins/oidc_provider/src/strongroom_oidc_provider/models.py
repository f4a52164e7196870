"""The tables of clients, codes, consents and logouts."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
)

metadata: Final = MetaData()

clients: Final = Table(
    "oidc_provider_clients",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("name", String(255), nullable=False),
    Column("is_public", Boolean, nullable=False),
    Column("is_trusted", Boolean, nullable=False),
    Column("redirect_uris", JSON, nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("resources", JSON, nullable=False),
    # Null: a client of a former version, which has none.
    Column("post_logout_redirect_uris", JSON),
    Column("backchannel_logout_uri", String(512)),
    Column("service_account_id", String(36)),
    Column("service_tenant_id", String(36)),
    Column("has_device_login", Boolean),
    Column("is_self_registered", Boolean),
    # Hashes of the live secrets, the newest first, each with its end or null.
    Column("secrets", JSON, nullable=False),
    Column("revision", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("disabled_at", BigInteger),
    # The brand. The logo is the path of its picture.
    Column("accent", String(7)),
    Column("terms_url", String(512)),
    Column("privacy_url", String(512)),
    Column("logo", String(128)),
    # Rules, see ClaimRule. Null: none.
    Column("claims", JSON),
    Index("oidc_provider_clients_created", "created_at", "id"),
)

logos: Final = Table(
    "oidc_provider_logos",
    metadata,
    Column("client_id", String(36), primary_key=True),
    # With the digest of the content, so that browsers may keep it.
    Column("name", String(64), nullable=False),
    # In Base64, which backups can write as JSON.
    Column("content", Text, nullable=False),
)

codes: Final = Table(
    "oidc_provider_codes",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("client_id", String(255), nullable=False),
    Column("user_id", String(36), nullable=False),
    Column("login_id", String(36), nullable=False),
    Column("redirect_uri", String(512), nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("resource", String(512), nullable=False),
    Column("nonce", String(512)),
    Column("challenge", String(128), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Column("used_at", BigInteger),
    Column("reused_at", BigInteger),
    Column("grant_id", String(36)),
    Column("tenant_id", String(36)),
    Column("file_id", String(36)),
    Index("oidc_provider_codes_expires", "expires_at"),
    Index("oidc_provider_codes_user", "user_id"),
)

consents: Final = Table(
    "oidc_provider_consents",
    metadata,
    Column("user_id", String(36), primary_key=True),
    Column("client_id", String(255), primary_key=True),
    # The URI of the service; empty: the client itself.
    Column("resource", String(512), primary_key=True),
    # At the last consent; of a client that is not registered, no row has it.
    Column("client_name", String(255)),
    Column("scopes", JSON, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Column("tenant_id", String(36)),
    Column("file_id", String(36)),
    Index("oidc_provider_consents_client", "client_id"),
)

logins: Final = Table(
    "oidc_provider_logins",
    metadata,
    Column("login_id", String(36), primary_key=True),
    Column("client_id", String(36), primary_key=True),
    Column("user_id", String(36), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Index("oidc_provider_logins_client", "client_id"),
    Index("oidc_provider_logins_created", "created_at"),
    Index("oidc_provider_logins_user", "user_id"),
)

logouts: Final = Table(
    "oidc_provider_logouts",
    metadata,
    Column("login_id", String(36), primary_key=True),
    Column("client_id", String(36), primary_key=True),
    Column("user_id", String(36), nullable=False),
    Column("failures", Integer, nullable=False),
    Column("due_at", BigInteger, nullable=False),
    Index("oidc_provider_logouts_client", "client_id"),
    Index("oidc_provider_logouts_due", "due_at"),
)


devices: Final = Table(
    "oidc_provider_devices",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("user_code", String(128), nullable=False),
    Column("client_id", String(36), nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("resource", String(512), nullable=False),
    Column("address", String(64), nullable=False),
    Column("user_agent", String(255), nullable=False),
    # pending, allowed, refused or used
    Column("status", String(8), nullable=False),
    Column("user_id", String(36)),
    Column("login_id", String(36)),
    # In seconds; a client that polls faster gets a longer one.
    Column("pause", Integer, nullable=False),
    Column("polled_at", BigInteger),
    Column("expires_at", BigInteger, nullable=False),
    Index("oidc_provider_devices_client", "client_id"),
    Index("oidc_provider_devices_code", "user_code", unique=True),
    Index("oidc_provider_devices_expires", "expires_at"),
    Index("oidc_provider_devices_user", "user_id"),
)


pushed: Final = Table(
    "oidc_provider_pushed",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("client_id", String(255), nullable=False),
    # Pairs of names and values: a name may be repeated.
    Column("parameters", JSON, nullable=False),
    Column("expires_at", BigInteger, nullable=False),
    Index("oidc_provider_pushed_expires", "expires_at"),
)


_LISTS: Final = ("redirect_uris", "scopes", "resources", "post_logout_redirect_uris", "claims")


@dataclass(frozen=True, slots=True)
class Client:
    """An application that logs its users in here, or uses the REST API on their behalf.

    Args:
        is_public: whether it cannot keep a secret, such as an app.
        is_trusted: whether its users are not asked for their consent.
        scopes: the scopes that it may request.
        resources: the URIs of the services, other than this server, that it may request tokens for.
        post_logout_redirect_uris: where browsers may go on to after a logout.
        backchannel_logout_uri: where the server reports logouts to; ``None``: nowhere.
        service_account_id: the service account that it acts as without a user; ``None``: none.
        service_tenant_id: the tenant of that account; ``None``: it is one of the server.
        disabled_at: since when it cannot log its users in, in milliseconds since the Unix epoch.
        accent: the colour of its buttons and links, as ``#rrggbb``; ``None``: the server's.
        logo: the path of its picture, without the base path; ``None`` without one.
        has_device_login: whether users may allow it on another device (RFC 8628).
        is_self_registered: whether it has chosen its name itself (RFC 7591).
        claims: the claims about groups and roles that it gets, as in the REST API.
    """

    id: str
    name: str
    is_public: bool
    is_trusted: bool
    redirect_uris: tuple[str, ...]
    scopes: tuple[str, ...]
    resources: tuple[str, ...] = ()
    post_logout_redirect_uris: tuple[str, ...] = ()
    backchannel_logout_uri: str | None = None
    service_account_id: str | None = None
    service_tenant_id: str | None = None
    has_device_login: bool = False
    is_self_registered: bool = False
    revision: int = 1
    created_at: int = 0
    updated_at: int = 0
    disabled_at: int | None = None
    accent: str | None = None
    terms_url: str | None = None
    privacy_url: str | None = None
    logo: str | None = None
    claims: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def from_row(cls, row: Any) -> "Client":
        """Return the client of a row."""
        values: dict[str, Any] = {name: getattr(row, name) for name in cls.__slots__}
        lists = {name: tuple(values[name] or ()) for name in _LISTS}
        flags = {name: bool(values[name]) for name in ("has_device_login", "is_self_registered")}
        return cls(**{**values, **lists, **flags})


def is_document_id(client_id: str) -> bool:
    """Return whether the id of a client is the URL of its document."""
    return client_id.startswith("https://")


def _read_scoped(kind: Any, row: Any) -> dict[str, Any]:
    """Return the members of a class with scopes from the columns of a row that have their names."""
    values: dict[str, Any] = {name: getattr(row, name) for name in kind.__slots__}
    return {**values, "scopes": tuple(values["scopes"])}


@dataclass(frozen=True, slots=True)
class Code:
    """An authorization code.

    Args:
        resource: the URI of the service that its tokens are for; empty: the client itself.
        challenge: of PKCE, by S256.
        file_id: the only folder that its tokens open, in the tenant; ``None``: all.
    """

    hash: str
    client_id: str
    user_id: str
    login_id: str
    redirect_uri: str
    scopes: tuple[str, ...]
    resource: str
    nonce: str | None
    challenge: str
    tenant_id: str | None
    file_id: str | None

    def get_redirect_uri(self) -> str:
        """Return the redirect URI, as Authlib reads it."""
        return self.redirect_uri

    def get_scope(self) -> str:
        """Return the scopes, as Authlib reads them."""
        return " ".join(self.scopes)

    @classmethod
    def from_row(cls, row: Any) -> "Code":
        """Return the code of a row."""
        return cls(**_read_scoped(cls, row))


@dataclass(frozen=True, slots=True)
class Device:
    """A device that waits for its user to log in elsewhere (RFC 8628).

    Args:
        resource: the URI of the service that its tokens are for; empty: the client itself.
        address: where it has asked from.
        user_agent: the program that has asked.
        status: ``pending``, ``allowed``, ``refused`` or ``used``.
    """

    hash: str
    client_id: str
    scopes: tuple[str, ...]
    resource: str
    address: str
    user_agent: str
    status: str
    user_id: str | None
    login_id: str | None
    expires_at: int

    def get_client_id(self) -> str:
        """Return the id of the client, as Authlib reads it."""
        return self.client_id

    def get_scope(self) -> str:
        """Return the scopes, as Authlib reads them."""
        return " ".join(self.scopes)

    @classmethod
    def from_row(cls, row: Any) -> "Device":
        """Return the device of a row."""
        return cls(**_read_scoped(cls, row))


@dataclass(frozen=True, slots=True)
class Consent:
    """What a user has let a client do.

    Args:
        name: the name of the client.
        resource: the URI of the service; empty: the client itself.
        file_id: the only folder, in the tenant; ``None``: all.
    """

    client_id: str
    name: str
    resource: str
    scopes: tuple[str, ...]
    created_at: int
    updated_at: int
    tenant_id: str | None
    file_id: str | None

    @property
    def key(self) -> str:
        """The client in paths: its id, or the hash of an id that is a URL."""
        if not is_document_id(self.client_id):
            return self.client_id
        return hashlib.sha256(self.client_id.encode()).hexdigest()[:36]

    @classmethod
    def from_row(cls, row: Any) -> "Consent":
        """Return the consent of a row, with the name of the client."""
        return cls(**_read_scoped(cls, row))
