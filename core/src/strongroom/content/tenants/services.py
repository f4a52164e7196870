"""The services of tenants, their members and groups."""

from collections.abc import Iterable, Mapping
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.activity.notifications.services import NotificationServices
from strongroom.clock import DAY
from strongroom.content.tenants.groups import GroupMemberships, GroupService
from strongroom.content.tenants.invitation_acceptance import InvitationAcceptance
from strongroom.content.tenants.invitation_messages import InvitationMessages
from strongroom.content.tenants.invitation_previews import InvitationPreviews
from strongroom.content.tenants.invitations import InvitationPolicy, InvitationService
from strongroom.content.tenants.memberships import Memberships, administers_a_tenant
from strongroom.content.tenants.quota import Quota
from strongroom.content.tenants.quota_alerts import QuotaAlerts
from strongroom.content.tenants.service import TenantService
from strongroom.content.tenants.service_accounts import ServiceAccountService
from strongroom.content.tenants.user_exports import tenant_exports
from strongroom.foundation.config.file_settings import AT_ONCE
from strongroom.identity.access_keys.services import AccessKeyServices
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.users.factor_policy import TENANT_ADMIN
from strongroom.identity.users.services import UserServices
from strongroom.identity.verification.services import VerificationServices
from strongroom.plugin_api.exports import UserExport
from strongroom.web.services import BaseServices, Groups, PruneStep, ServiceGroup


class TenantServices(ServiceGroup):
    """Tenants, their members and groups."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._audit = group(AuditServices).audit
        self._users = group(UserServices).users
        self._access_keys = group(AccessKeyServices)
        self._user_services = group(UserServices)
        self._accounts = group(AccountServices)

    @cached_property
    def memberships(self) -> Memberships:
        return Memberships(self._clock, self._base.on_wait("tenant"))

    @cached_property
    def group_members(self) -> GroupMemberships:
        return GroupMemberships(
            self._clock,
            self.memberships,
            max_per_user=self._settings.advanced.max_groups_per_user,
        )

    @cached_property
    def tenants(self) -> TenantService:
        alerts = QuotaAlerts(self._database, self._clock, self._audit)
        self._base.resources.callback(alerts.close)
        return TenantService(
            self._database,
            self._clock,
            self.memberships,
            Quota(self._settings.files.default_quota_bytes or None, alerts.note),
            self._users,
            self._accounts.deactivations,
            self._audit,
            any_user_creates=self._settings.tenants.allow_user_creation,
            adds_uninvited=self._settings.tenants.add_members == AT_ONCE,
        )

    @cached_property
    def service_accounts(self) -> ServiceAccountService:
        return ServiceAccountService(
            self._database,
            self._clock,
            self.memberships,
            self._users,
            self._access_keys.access_keys,
            self._accounts.deactivations,
            self._audit,
        )

    @cached_property
    def groups(self) -> GroupService:
        return GroupService(
            self._database,
            self._clock,
            self.memberships,
            self.group_members,
            self._users,
            self._audit,
            max_groups=self._settings.advanced.max_groups,
        )

    def connect(self) -> None:
        self._user_services.factor_policy.define(TENANT_ADMIN, administers_a_tenant)
        self._accounts.deletion.guard(self.memberships.require_dispensable)

    def register_user_exports(self) -> Iterable[UserExport]:
        return tenant_exports(self._database)


class InvitationServices(ServiceGroup):
    """Invitations to tenants."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._audit = group(AuditServices).audit
        self._users = group(UserServices).users
        self._user_services = group(UserServices)
        self._verification = group(VerificationServices)
        self._notifications = group(NotificationServices)
        self._accounts = group(AccountServices)
        self._tenants = group(TenantServices)

    @cached_property
    def invitation_acceptance(self) -> InvitationAcceptance:
        base = self._base
        return InvitationAcceptance(
            base.clock, base.keys, self._tenants.memberships, self._tenants.group_members, self._audit
        )

    @cached_property
    def invitation_previews(self) -> InvitationPreviews:
        return InvitationPreviews(self._base.database, self.invitation_acceptance, self._users)

    @cached_property
    def invitation_messages(self) -> InvitationMessages:
        return InvitationMessages(
            self._base.database,
            self._user_services.credentials,
            self._users,
            self._notifications.messages,
            self._settings.tenants.invitation_days * DAY,
        )

    @cached_property
    def invitations(self) -> InvitationService:
        base, tenants, limits = self._base, self._settings.tenants, self._settings.limits
        return InvitationService(
            base.database,
            base.clock,
            self._tenants.memberships,
            self._tenants.group_members,
            self.invitation_acceptance,
            self._user_services.credentials,
            self._users,
            self.invitation_messages,
            base.rates,
            self._audit,
            self._accounts.reauthentication,
            InvitationPolicy(
                lifetime=tenants.invitation_days * DAY,
                max_open=self._settings.advanced.max_invitations,
                adds_known=tenants.add_known_invitees,
                per_recipient=limits.invitations_per_recipient,
                per_user=limits.invitations_per_user,
            ),
        )

    def connect(self) -> None:
        is_invited = self.invitations.is_invited
        self._user_services.credentials.on_bound(self.invitation_acceptance.bound)
        self._accounts.registration.set_invitation_check(is_invited)
        self._verification.code_sending.set_invitation_check(is_invited)

    def register_prune_steps(self) -> Mapping[str, PruneStep]:
        return {"invitations": self.invitations.prune}
