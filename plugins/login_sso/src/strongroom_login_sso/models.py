"""The tables of domains, of identity providers, and of users whose membership has ended."""

from collections.abc import Mapping, Sequence
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
    UniqueConstraint,
)

from strongroom_login_oidc.provider_settings import GroupRule

metadata: Final = MetaData()

domains: Final = Table(
    "login_sso_domains",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(36), nullable=False),
    # A-labels in lowercase (RFC 5890).
    Column("domain", String(253), nullable=False),
    Column("token", String(64), nullable=False),
    Column("creator_id", String(36), nullable=False),
    Column("created_at", BigInteger, nullable=False),
    # NULL until the first proof, and again once another tenant has proven the domain.
    Column("verified_at", BigInteger),
    Column("checked_at", BigInteger),
    # The last check that found the record.
    Column("proven_at", BigInteger),
    # The first check in a row that found no record.
    Column("lost_since", BigInteger),
    Column("next_check_at", BigInteger),
    UniqueConstraint("tenant_id", "domain", name="login_sso_domains_name"),
    Index("login_sso_domains_domain", "domain"),
    Index("login_sso_domains_next", "next_check_at"),
)

providers: Final = Table(
    "login_sso_providers",
    metadata,
    # Part of the credentials of its users.
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(36), nullable=False),
    # The administrator whose rights the rules of groups have.
    Column("owner_id", String(36), nullable=False),
    Column("label", String(64), nullable=False),
    Column("issuer", String(512), nullable=False),
    Column("client_id", String(255), nullable=False),
    Column("sealed_secret", Text, nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("claims", JSON, nullable=False),
    Column("rules", JSON, nullable=False),
    Column("default_role", String(16), nullable=False),
    Column("joins", Boolean, nullable=False),
    Column("addresses_verified", Boolean, nullable=False),
    Column("enforced", Boolean, nullable=False),
    # The last login of an administrator of the tenant by this provider.
    Column("tried_at", BigInteger),
    Column("revision", Integer, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    Column("updated_at", BigInteger, nullable=False),
    Index("login_sso_providers_tenant", "tenant_id"),
)

break_glass: Final = Table(
    "login_sso_break_glass",
    metadata,
    Column("provider_id", String(36), primary_key=True),
    Column("user_id", String(36), primary_key=True),
    Index("login_sso_break_glass_user", "user_id"),
)
"""The administrators who log in without the provider, although it is enforced."""

leavers: Final = Table(
    "login_sso_leavers",
    metadata,
    Column("tenant_id", String(36), primary_key=True),
    Column("user_id", String(36), primary_key=True),
    Column("ended_at", BigInteger, nullable=False),
    Index("login_sso_leavers_user", "user_id"),
)
"""Users whose membership has ended: a login alone does not begin it again."""


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain that a tenant claims. Times are in milliseconds since the Unix epoch."""

    id: str
    tenant_id: str
    domain: str
    token: str
    creator_id: str
    created_at: int
    verified_at: int | None
    checked_at: int | None
    proven_at: int | None
    lost_since: int | None

    @classmethod
    def from_row(cls, row: Any) -> "Domain":
        """Return the domain of a row."""
        return cls(**{name: getattr(row, name) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class Rule:
    """What a value of a claim gives: a group of the tenant, and the role of a new member."""

    claim: str
    value: str
    group: str | None = None
    role: str | None = None

    def for_groups(self, tenant_id: str) -> GroupRule:
        """Return the rule as the login by OpenID Connect applies it, in the tenant."""
        return GroupRule(claim=self.claim, value=self.value, tenant=tenant_id, group=self.group)


@dataclass(frozen=True, slots=True)
class TenantProvider:
    """An identity provider of a tenant. Times are in milliseconds since the Unix epoch."""

    id: str
    tenant_id: str
    owner_id: str
    label: str
    issuer: str
    client_id: str
    sealed_secret: str
    scopes: Sequence[str]
    claims: Mapping[str, str]
    rules: Sequence[Rule]
    default_role: str
    joins: bool
    addresses_verified: bool
    enforced: bool
    tried_at: int | None
    revision: int
    created_at: int
    updated_at: int

    @classmethod
    def from_row(cls, row: Any) -> "TenantProvider":
        """Return the provider of a row."""
        values = {name: getattr(row, name) for name in cls.__slots__}
        return cls(**{**values, "rules": tuple(Rule(**rule) for rule in row.rules)})
