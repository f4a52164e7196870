"""Authorizations: one per login, valid until it expires or is revoked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import JSON, Column, ForeignKey, Index, Integer, String, Table, Text

from strongroom.foundation.database.metadata import WHERE, Id, Timestamp, metadata
from strongroom.foundation.database.rows import RowMapper
from strongroom.plugin_api.login import MAX_SESSION

MAX_CLIENT_ID: Final = 512
MAX_CLIENT_NAME: Final = 255
"""Characters; a client's id may be a URL."""


@dataclass(frozen=True, slots=True)
class Authorization:
    """A row of :data:`authorizations`: a login, or a client's grant."""

    id: str
    user_id: str
    user_type: str
    method: str
    serial: int
    device_id: str | None
    address: str
    user_agent: str
    created_at: int
    last_seen_at: int
    expires_at: int
    revoked_at: int | None
    amr: str
    acr: str
    auth_time: int
    actor_id: str | None = None
    credential_hash: str | None = None
    upstream_session: str | None = None
    plugin: str | None = None
    client_id: str | None = None
    client_name: str | None = None
    ends_with_id: str | None = None
    folder_id: str | None = None
    terms: Mapping[str, Any] | None = None


authorizations: Final = Table(
    "authorizations",
    metadata,
    Column("id", Id, primary_key=True),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE"), nullable=False),
    Column("user_type", String(16), nullable=False),
    Column("method", String(32), nullable=False),
    Column("serial", Integer, nullable=False),
    Column("device_id", String(128)),
    Column("address", String(64), nullable=False),
    Column("user_agent", String(512), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("last_seen_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("revoked_at", Timestamp),
    Column("amr", String(64), nullable=False),
    Column("acr", String(64), nullable=False),
    Column("auth_time", Timestamp, nullable=False),
    Column("actor_id", Id),
    Column("credential_hash", String(64)),
    Column("upstream_session", String(MAX_SESSION)),
    Column("plugin", String(64)),
    Column("client_id", String(MAX_CLIENT_ID)),
    Column("client_name", String(MAX_CLIENT_NAME)),
    Column("ends_with_id", Id),
    Column("folder_id", Id),
    Column("terms", JSON(none_as_null=True)),
    Index(None, "user_id", "created_at"),
    Index(None, "expires_at"),
    Index(None, "actor_id", info={WHERE: "actor_id IS NOT NULL"}),
    Index(None, "credential_hash", info={WHERE: "credential_hash IS NOT NULL"}),
    Index(None, "upstream_session", info={WHERE: "upstream_session IS NOT NULL"}),
    Index(None, "client_id", info={WHERE: "client_id IS NOT NULL"}),
    Index(None, "ends_with_id", info={WHERE: "ends_with_id IS NOT NULL"}),
)
"""``serial`` counts the issued access tokens. ``last_seen_at`` may lag by a minute. ``expires_at`` is
extended by each refresh. ``user_type`` is the user's type at login: code that changes the type or
suspends the user must revoke the authorizations, because the token guard does not read ``users``.
``amr`` has the proofs of the login, separated by spaces; ``auth_time`` is the time of the last one: a
refresh proves nothing. ``actor_id`` is the administrator who impersonates the user (RFC 8693, 4.1).
``credential_hash`` is the hash of the login's credential, and ``upstream_session`` the platform's
session; see :class:`~strongroom.identity.sessions.login_sources.LoginSources`. Only a grant has the last
columns: ``plugin`` has the client, ``ends_with_id`` is the login that the grant ends with, if it does,
and ``folder_id`` limits what the client has given to others."""

AUTHORIZATION: Final = RowMapper(Authorization, authorizations)

refresh_tokens: Final = Table(
    "refresh_tokens",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("authorization_id", Id, ForeignKey("authorizations.id", ondelete="CASCADE"), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("used_at", Timestamp),
    Index(None, "authorization_id"),
    Index(None, "expires_at"),
)
"""A used token is stored until it would have expired, so that its reuse is detected."""

oauth_states: Final = Table(
    "browser_states",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("purpose", String(32), nullable=False),
    Column("browser_hash", String(64), nullable=False),
    Column("user_id", Id),
    Column("data", JSON, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "expires_at"),
)
"""OAuth states of redirected browsers. The row is deleted when the state is used."""

factor_challenges: Final = Table(
    "factor_challenges",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("purpose", String(16), nullable=False),
    Column("user_id", Id, ForeignKey("users.id", ondelete="CASCADE")),
    Column("sealed_state", Text, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)
"""Open challenges of second factors, and open enrolments. The id is only with the client, because it
stands for a first proof; the row is deleted when the challenge is met. A login without a first proof has
no user yet."""
