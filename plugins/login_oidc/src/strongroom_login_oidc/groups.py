"""Memberships of tenants and groups that rules give by the claims of a provider."""

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.tenants import MemberRole
from strongroom.plugin_api.web import ApiError
from strongroom_login_oidc.provider_settings import GroupRule

logger = logging.getLogger(__name__)

Claims = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Gift:
    """What a rule has given to a user; what the user had before is not part of it.

    Args:
        role: the role in the tenant; ``None``: the user belonged to the tenant before.
        in_group: whether the membership of the group is the rule's.
    """

    tenant: str
    group: str | None
    role: str | None
    in_group: bool

    def applies_to(self, rule: GroupRule) -> bool:
        """Return whether the rule still has this target."""
        return (self.tenant, self.group) == (rule.tenant, rule.group)


def matches(rule: GroupRule, claims: Claims) -> bool:
    """Return whether a claim has the value of a rule, alone or in a list."""
    claim = find_claim(claims, rule.claim)
    return rule.value in claim if isinstance(claim, list) else claim == rule.value


def find_claim(claims: Claims, name: str) -> Any:
    """Return a claim by its name, or by a path such as ``realm_access.roles``; ``None`` without one."""
    if name in claims:
        return claims[name]
    first, _, rest = name.partition(".")
    inner = claims.get(first)
    return find_claim(inner, rest) if rest and isinstance(inner, Mapping) else None


class GroupRules:
    """Applies the rules of a provider to its people, as an administrator.

    A rule gives a membership when its value appears, and takes back what it gave when the value has
    disappeared. In between, administrators may change it.

    Args:
        administrator: the id of the user to act as.
        provider: the name of the provider in the configuration.
    """

    def __init__(
        self, host: HostAPI, administrator: str, provider: str, rules: Mapping[str, GroupRule]
    ) -> None:
        self._host = host
        self._administrator = administrator
        self._rules = rules
        self._key = f"groups.{provider}"

    def apply(self, user_id: str, claims: Claims) -> None:
        """Give and take memberships after a login, by its claims."""
        stored = self._host.store.get(user_id, self._key) or {}
        gifts = {name: Gift(**members) for name, members in stored.items()}
        due = {name: rule for name, rule in self._rules.items() if matches(rule, claims)}
        if gifts.keys() == due.keys() and all(gifts[name].applies_to(due[name]) for name in due):
            return
        with self._host.acting_as(self._administrator):
            after = self._changed(user_id, gifts, due)
        self._host.store.put(user_id, self._key, {name: asdict(gift) for name, gift in after.items()})

    def _changed(
        self, user_id: str, gifts: Mapping[str, Gift], due: Mapping[str, GroupRule]
    ) -> dict[str, Gift]:
        """Return the gifts of the rules that are due. The next login tries those again that failed."""
        kept = {name: gift for name, gift in gifts.items() if name in due and gift.applies_to(due[name])}
        # New memberships come first, so that no user leaves a tenant in between.
        for name, rule in due.items():
            if name not in kept and (gift := self._attempt(name, self._give, user_id, rule)):
                kept[name] = gift
        for name, gift in gifts.items():
            if kept.get(name) != gift:
                self._attempt(name, self._take, user_id, gift, kept)
        return kept

    def _attempt(self, name: str, act: Any, *arguments: Any) -> Any:
        try:
            return act(*arguments)
        except ApiError as error:
            logger.warning("The rule %r of groups failed: %s", name, error)
            return None

    def _give(self, user_id: str, rule: GroupRule) -> Gift:
        tenants, role = self._host.tenants, None
        if not self._belongs(user_id, rule.tenant):
            role = rule.role
            tenants.put_member(rule.tenant, user_id, cast("MemberRole", role))
        in_group = rule.group is not None and not self._is_in(user_id, rule.tenant, rule.group)
        if rule.group is not None and in_group:
            tenants.put_group_member(rule.tenant, rule.group, user_id)
        return Gift(rule.tenant, rule.group, role, in_group)

    def _take(self, user_id: str, gift: Gift, kept: dict[str, Gift]) -> None:
        if gift.in_group and gift.group is not None:
            self._host.tenants.remove_group_member(gift.tenant, gift.group, user_id)
        if gift.role is None:
            return
        heir = next((name for name, other in kept.items() if other.tenant == gift.tenant), None)
        if heir is None:
            self._host.tenants.remove_member(gift.tenant, user_id)
        else:
            # Another rule needs the membership of the tenant, and takes it back later.
            kept[heir] = replace(kept[heir], role=gift.role)

    def _belongs(self, user_id: str, tenant: str) -> bool:
        with self._host.acting_as(user_id):
            return self._host.tenants.role(tenant) is not None

    def _is_in(self, user_id: str, tenant: str, group: str) -> bool:
        page: int | None = 1
        while page is not None:
            groups = self._host.tenants.groups(tenant, user_id=user_id, page=page)
            if any(item.id == group for item in groups.items):
                return True
            page = groups.next
        return False
