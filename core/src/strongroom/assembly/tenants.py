"""Assembles the services of tenants, their members and groups."""

from functools import cached_property

from strongroom.assembly.identity import IdentityServices
from strongroom.assembly.infrastructure import Infrastructure, ServiceGroup
from strongroom.clock import DAY
from strongroom.content.nodes.removal_guard import held_bytes
from strongroom.content.nodes.trash import trash_bytes
from strongroom.content.nodes.versions import version_bytes
from strongroom.content.nodes.visibility import Visibility
from strongroom.content.tenants.groups import GroupMemberships, GroupService
from strongroom.content.tenants.invitation_acceptance import InvitationAcceptance
from strongroom.content.tenants.invitations import InvitationPolicy, InvitationService
from strongroom.content.tenants.memberships import Memberships
from strongroom.content.tenants.quota import Quota
from strongroom.content.tenants.quota_alerts import QuotaAlerts
from strongroom.content.tenants.service import TenantService
from strongroom.content.tenants.service_accounts import ServiceAccountService
from strongroom.foundation.config.files import AT_ONCE


class TenantServices(ServiceGroup):
    """The services of tenants."""

    def __init__(self, base: Infrastructure, identity: IdentityServices) -> None:
        super().__init__(base)
        self._identity = identity

    @cached_property
    def _memberships(self) -> Memberships:
        return Memberships(self._clock, self._base.on_wait("tenant"))

    @cached_property
    def _visibility(self) -> Visibility:
        return Visibility()

    @cached_property
    def _group_members(self) -> GroupMemberships:
        return GroupMemberships(
            self._clock,
            self._memberships,
            self._visibility,
            max_per_user=self._settings.advanced.max_groups_per_user,
        )

    @cached_property
    def tenants(self) -> TenantService:
        alerts = QuotaAlerts(self._database, self._clock, self._audit)
        self._base.resources.callback(alerts.close)
        return TenantService(
            self._database,
            self._clock,
            self._memberships,
            Quota(self._settings.files.default_quota_bytes or None, alerts.note),
            self._users,
            self._audit,
            any_user_creates=self._settings.tenants.allow_user_creation,
            adds_uninvited=self._settings.tenants.add_members == AT_ONCE,
            trash_bytes=trash_bytes,
            version_bytes=version_bytes,
            held_bytes=held_bytes,
        )

    @cached_property
    def service_accounts(self) -> ServiceAccountService:
        return ServiceAccountService(
            self._database,
            self._clock,
            self._memberships,
            self._users,
            self._identity.access_keys,
            self._audit,
        )

    @cached_property
    def groups(self) -> GroupService:
        return GroupService(
            self._database,
            self._clock,
            self._memberships,
            self._group_members,
            self._users,
            self._audit,
            max_groups=self._settings.advanced.max_groups,
        )

    @cached_property
    def _invitation_acceptance(self) -> InvitationAcceptance:
        base = self._base
        return InvitationAcceptance(
            base.clock, base.keys, self._memberships, self._group_members, base.audit
        )

    @cached_property
    def invitations(self) -> InvitationService:
        base, tenants, limits = self._base, self._settings.tenants, self._settings.limits
        return InvitationService(
            base.database,
            base.clock,
            self._memberships,
            self._group_members,
            self._invitation_acceptance,
            self._identity.credentials,
            base.users,
            self._identity.messages,
            base.rates,
            base.audit,
            self._identity.reauthentication,
            InvitationPolicy(
                lifetime=tenants.invitation_days * DAY,
                max_open=self._settings.advanced.max_invitations,
                adds_known=tenants.add_known_invitees,
                per_recipient=limits.invitations_per_recipient,
                per_user=limits.invitations_per_user,
            ),
        )
