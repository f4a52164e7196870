"""The claims about groups and roles that administrators define for a client."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import json

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.users import UserInfo
from strongroom_oidc_provider.models import Client
from strongroom_oidc_provider.scopes import GROUPS, OPENID, ROLES

GROUP_SOURCE: Final = "groups"
TENANT_ROLE: Final = "tenant-roles"
SERVER_ROLE: Final = "server-role"
SERVER_DATA: Final = "server-data"
SOURCES: Final = (GROUP_SOURCE, TENANT_ROLE, SERVER_ROLE, SERVER_DATA)

IDS: Final = "ids"
NAMES: Final = "names"
FORMS: Final = (IDS, NAMES)

ID_TOKEN: Final = "id_token"  # noqa: S105  a place and no secret
ACCESS_TOKEN: Final = "access_token"  # noqa: S105  likewise
TOKENS: Final = (ID_TOKEN, ACCESS_TOKEN)

MAX_RULES: Final = 10
MAX_TOKEN_VALUES: Final = 100
"""The values of a claim in a token."""

MAX_TOKEN_BYTES: Final = 4096
"""The size of all these claims in a token, as JSON, because services limit headers."""

MAX_VALUES: Final = 1000
"""The values of a claim at the endpoint for user information."""

MAX_BYTES: Final = 64 * 1024
"""The size of a claim there, as JSON."""

INCOMPLETE: Final = "incomplete_claims"
"""The claim that names the claims with only a part of their values."""

NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9._:/-]{0,99}")
RESERVED: Final = frozenset(
    [
        "acr",
        "act",
        "active",
        "address",
        "amr",
        "at_hash",
        "aud",
        "auth_time",
        "authorization_details",
        "azp",
        "birthdate",
        "c_hash",
        "client_id",
        "cnf",
        "email",
        "email_verified",
        "events",
        "exp",
        "family_name",
        "gender",
        "given_name",
        "iat",
        "iss",
        "jti",
        "jwt",
        "locale",
        "may_act",
        "middle_name",
        "name",
        "nbf",
        "nickname",
        "nonce",
        "phone_number",
        "phone_number_verified",
        "picture",
        "preferred_username",
        "profile",
        "s_hash",
        "scope",
        "sid",
        "sub",
        "sub_jwk",
        "token_type",
        "updated_at",
        "username",
        "vot",
        "vtm",
        "website",
        "zoneinfo",
    ]
) | {INCOMPLETE}
"""The names that protocols give a meaning; no rule may replace them, in any case of letters."""


def is_acceptable_name(name: str) -> bool:
    """Return whether a rule may give a claim this name."""
    return NAME.fullmatch(name) is not None and name.lower() not in RESERVED


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """A claim of a client.

    Args:
        name: the name of the claim.
        source: where its values are from: one of :data:`SOURCES`.
        tenants: the only tenants, by their ids; without one, there are no values.
        groups: the only groups, by their ids; empty: all of the tenants.
        field: the member of the server's data about the user.
        form: ``ids`` or ``names``.
        tokens: the tokens that have it; the endpoint for user information always has it.
    """

    name: str
    source: str
    tenants: tuple[str, ...]
    groups: tuple[str, ...]
    field: str | None
    form: str
    tokens: tuple[str, ...]

    @property
    def scope(self) -> str:
        """The scope that a client must request."""
        return GROUPS if self.source == GROUP_SOURCE else ROLES

    @classmethod
    def from_json(cls, rule: Mapping[str, Any]) -> "ClaimRule":
        """Return the rule of its JSON."""
        lists = ("tenants", "groups", "tokens")
        values: dict[str, Any] = {name: rule[name] for name in cls.__slots__}
        return cls(**{**values, **{name: tuple(values[name]) for name in lists}})


@dataclass(slots=True, eq=False, repr=False)
class RoleClaims:
    """Reads the values of claims about groups and roles."""

    _host: HostAPI

    def for_token(
        self, client: Client, user_id: str, scopes: Collection[str], token: str
    ) -> dict[str, Any]:
        """Return the claims of a token.

        A claim that is too long is absent. The token names it, and the endpoint that has it, as it does
        distributed claims (OpenID Connect Core, section 5.6.2).
        """
        rules = [rule for rule in get_rules(client, scopes) if token in rule.tokens]
        user = self._host.users.find_active(user_id) if rules else None
        claims: dict[str, Any] = {}
        left_out: list[str] = []
        for rule in rules if user else ():
            values = self._read(rule, user, MAX_TOKEN_VALUES + 1)
            united = {**claims, rule.name: values}
            if len(values) > MAX_TOKEN_VALUES or _get_size(united) > MAX_TOKEN_BYTES:
                left_out.append(rule.name)
            else:
                claims = united
        return claims | self._refer(left_out, scopes)

    def for_user_info(self, client: Client, user: UserInfo, scopes: Collection[str]) -> dict[str, Any]:
        """Return the claims of the endpoint for user information."""
        claims: dict[str, Any] = {}
        incomplete: list[str] = []
        for rule in get_rules(client, scopes):
            values = self._read(rule, user, MAX_VALUES + 1)
            kept = [*_within(values[:MAX_VALUES], MAX_BYTES)]
            claims[rule.name] = kept
            if len(kept) < len(values):
                incomplete.append(rule.name)
        return claims | ({INCOMPLETE: incomplete} if incomplete else {})

    def _refer(self, names: Sequence[str], scopes: Collection[str]) -> dict[str, Any]:
        # Without the scope, the endpoint would refuse the token.
        if not names or OPENID not in scopes:
            return {INCOMPLETE: list(names)} if names else {}
        endpoint = f"{self._host.public_url}/oauth2/userinfo"
        return {
            "_claim_names": dict.fromkeys(names, "userinfo"),
            "_claim_sources": {"userinfo": {"endpoint": endpoint}},
        }

    def _read(self, rule: ClaimRule, user: UserInfo | None, limit: int) -> list[str]:
        if user is None:
            return []
        if rule.source == SERVER_ROLE:
            return [user.type]
        if rule.source == SERVER_DATA:
            return _get_texts(self._host.users.find_server_metadata(user.id).get(rule.field or ""))
        tenants = self._host.tenants
        if rule.source == TENANT_ROLE:
            roles = sorted(tenants.find_roles(user.id, rule.tenants).items())
            return [role if rule.form == NAMES else f"{tenant}:{role}" for tenant, role in roles]
        groups = tenants.find_groups(user.id, rule.tenants, group_ids=rule.groups, limit=limit)
        return [group.name if rule.form == NAMES else group.id for group in groups]


def get_rules(client: Client, scopes: Collection[str]) -> Sequence[ClaimRule]:
    """Return the rules of a client that scopes cover."""
    rules = [ClaimRule.from_json(rule) for rule in client.claims]
    return [rule for rule in rules if rule.scope in scopes]


def get_rule_scopes(client: Client) -> Sequence[str]:
    """Return the scopes that a client may request because of its rules."""
    scopes = (ClaimRule.from_json(rule).scope for rule in client.claims)
    return tuple(dict.fromkeys(scopes))


def _get_texts(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str)]


def _get_size(claims: Mapping[str, Any]) -> int:
    return len(json.dumps(claims))


def _within(values: Sequence[str], limit: int) -> Iterator[str]:
    size = 0
    for value in values:
        size += _get_size({"": value})
        if size > limit:
            return
        yield value
