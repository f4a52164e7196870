"""The services of users and their credentials."""

from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from datetime import timedelta
from functools import cached_property

from strongroom.activity.audit.client_actions import ClientActions
from strongroom.activity.audit.service import AuditListing
from strongroom.activity.audit.services import AuditServices
from strongroom.activity.notifications.services import NotificationServices
from strongroom.clock import DAY
from strongroom.identity.users.account_links import AccountLinks
from strongroom.identity.users.change_notices import ChangeNotices
from strongroom.identity.users.consents import Consents, Terms
from strongroom.identity.users.contact_links import ContactLinks
from strongroom.identity.users.contacts import Notices
from strongroom.identity.users.credential_changes import CredentialChanges
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.enrolled_factors import EnrolledFactors
from strongroom.identity.users.factor_policy import FactorPolicy
from strongroom.identity.users.models import OWN_SCHEME
from strongroom.identity.users.password_hashing import PasswordHasher
from strongroom.identity.users.passwords import UserPasswords
from strongroom.identity.users.plugin_values import PluginValues
from strongroom.identity.users.resolver import IdentityResolver
from strongroom.identity.users.service import UserLocales, UserService
from strongroom.identity.users.suspension_ends import SuspensionEnds
from strongroom.identity.users.user_exports import user_exports
from strongroom.identity.users.user_reindexing import UserReindexing
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.password_schemes import NewPasswordScheme, PasswordScheme
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.gateway.exchange import release_slot
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class UserServices(ServiceGroup):
    """Users and their credentials."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._notifications = group(NotificationServices)
        self._audit = group(AuditServices).audit

    @cached_property
    def users(self) -> UserService:
        return UserService(self._clock)

    @cached_property
    def suspension_ends(self) -> SuspensionEnds:
        return SuspensionEnds(self._database, self._clock, self._audit)

    @cached_property
    def hasher(self) -> PasswordHasher:
        advanced, metrics = self._settings.advanced, self._base.metrics
        own, imported = self._password_schemes()
        return PasswordHasher(
            own,
            imported,
            fingerprint=self._base.keys.fingerprint,
            max_concurrent=advanced.max_concurrent_hashes,
            queue_length=advanced.hash_queue,
            watch=metrics.hashing if metrics else nullcontext,
            on_wait=self._base.on_wait("hashes"),
            on_block=release_slot,
        )

    def _password_schemes(self) -> tuple[NewPasswordScheme, Mapping[str, PasswordScheme]]:
        """Return the scheme of new passwords, and the schemes of imported passwords by name."""
        choices = dict(self._base.selection.password_schemes)
        secrets = self._base.keys.derive("passwords"), self._settings.passwords.bcrypt_cost
        own = self._base.construct(choices.pop(OWN_SCHEME), ("passwords",), *secrets)
        if not isinstance(own, NewPasswordScheme):
            raise TypeError(f"the scheme {OWN_SCHEME} makes no hashes")
        return own, {
            name: self._base.construct(choice, ("plugins", "enabled"))
            for name, choice in choices.items()
        }

    @cached_property
    def credentials(self) -> CredentialService:
        return CredentialService(self._clock, self._settings.login.default_region)

    @cached_property
    def passwords(self) -> UserPasswords:
        region = self._settings.login.default_region
        return UserPasswords(self._database, self._clock, self.hasher, region)

    @cached_property
    def account_links(self) -> AccountLinks:
        return AccountLinks(self._database, self._clock, self._base.keys)

    @cached_property
    def consents(self) -> Consents:
        pages, users = self._settings.pages, self._settings.users
        terms = Terms(pages.terms_version, pages.terms_url, pages.privacy_url, users.require_terms)
        return Consents(self._clock, terms, self._audit)

    @cached_property
    def resolver(self) -> IdentityResolver:
        return IdentityResolver(self.users, self.credentials, self._settings.users.registration)

    @cached_property
    def reindexing(self) -> UserReindexing:
        return UserReindexing(self._database)

    @cached_property
    def user_locales(self) -> UserLocales:
        return UserLocales(self._database, self.users)

    @cached_property
    def notices(self) -> Notices:
        return Notices(self._clock, self.credentials, self.users, self._notifications.messages)

    @cached_property
    def contact_links(self) -> ContactLinks:
        return ContactLinks(self._database, self._clock, self._base.keys)

    @cached_property
    def change_notices(self) -> ChangeNotices:
        messages = self._notifications.messages
        return ChangeNotices(self._clock, self.users, messages, self.contact_links)

    @cached_property
    def credential_changes(self) -> CredentialChanges:
        changes = CredentialChanges(self.account_links, self._audit)
        changes.on_settled(self.change_notices.prepare)
        return changes

    @cached_property
    def factor_policy(self) -> FactorPolicy:
        settings = self._settings.second_factors
        return FactorPolicy(self._clock, settings.required_for, settings.grace_days * DAY)

    @cached_property
    def enrolled_factors(self) -> EnrolledFactors:
        return EnrolledFactors(self._clock, self._base.keys)

    @cached_property
    def plugin_values(self) -> PluginValues:
        return PluginValues(self._database, self._base.keys, self.users)

    @cached_property
    def audit_listing(self) -> AuditListing:
        """The list of audit records, which is here because it has the names of users."""
        return AuditListing(self._database, self.users)

    @cached_property
    def client_actions(self) -> ClientActions:
        """The list of what clients have done, which has the name of the user."""
        return ClientActions(self._database, self.users)

    def register_jobs(self) -> Iterable[Job]:
        ends = self.suspension_ends
        return [Job("reinstate_users", timedelta(minutes=1), lambda _: ends.reinstate_due())]

    def register_deactivations(self) -> Iterable[UserEnding]:
        ended = (self.account_links, self.contact_links, self.passwords, self.plugin_values)
        return [part.deactivate for part in ended]

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [
            PruneStep("links that set a password", self.account_links.prune),
            PruneStep("links that restore a contact", self.contact_links.prune),
        ]

    def register_user_exports(self) -> Iterable[UserExport]:
        return user_exports(self._database)
