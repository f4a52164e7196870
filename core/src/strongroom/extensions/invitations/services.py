"""The services of invitations."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.activity.notifications.services import NotificationServices
from strongroom.clock import DAY
from strongroom.content.tenants.services import TenantServices
from strongroom.extensions.invitations.acceptance import InvitationAcceptance
from strongroom.extensions.invitations.listing import InvitationListing
from strongroom.extensions.invitations.messages import InvitationMessages
from strongroom.extensions.invitations.previews import InvitationPreviews
from strongroom.extensions.invitations.received import ReceivedInvitations
from strongroom.extensions.invitations.sending import InvitationPolicy, InvitationSending
from strongroom.extensions.invitations.service import InvitationService
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.users.services import UserServices
from strongroom.identity.verification.services import VerificationServices
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.services import BaseServices, Groups, ServiceGroup


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
            self._clock,
            self._settings.tenants.invitation_days * DAY,
        )

    @cached_property
    def invitation_listing(self) -> InvitationListing:
        base = self._base
        return InvitationListing(base.database, base.clock, self._tenants.memberships, self._users)

    @cached_property
    def received_invitations(self) -> ReceivedInvitations:
        return ReceivedInvitations(
            self._base.database,
            self._user_services.credentials,
            self._users,
            self.invitation_acceptance,
            self._audit,
        )

    @cached_property
    def _policy(self) -> InvitationPolicy:
        tenants, limits = self._settings.tenants, self._settings.limits
        return InvitationPolicy(
            lifetime=tenants.invitation_days * DAY,
            max_open=self._settings.advanced.max_invitations,
            adds_known=tenants.add_known_invitees,
            per_recipient=limits.invitations_per_recipient,
            per_user=limits.invitations_per_user,
        )

    @cached_property
    def invitations(self) -> InvitationService:
        base, memberships = self._base, self._tenants.memberships
        sending = InvitationSending(
            base.database,
            memberships,
            self.invitation_messages,
            base.rates,
            self._accounts.reauthentication,
            self._policy,
        )
        return InvitationService(
            base.database,
            base.clock,
            memberships,
            self._tenants.group_members,
            self.invitation_acceptance,
            self._user_services.credentials,
            self.invitation_listing,
            sending,
            self._audit,
            self._policy,
        )

    def connect(self) -> None:
        is_invited = self.received_invitations.is_invited
        self._user_services.credentials.on_bound(self.invitation_acceptance.bound)
        self._accounts.registration.set_invitation_check(is_invited)
        self._verification.code_sending.set_invitation_check(is_invited)

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("invitations", self.invitations.prune)]
