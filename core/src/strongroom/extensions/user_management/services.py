"""The services of users as administrators manage them."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.activity.notifications.services import NotificationServices
from strongroom.extensions.user_management.administration import Administration, ManagedUsersLimit
from strongroom.extensions.user_management.contact_restoration import ContactRestoration
from strongroom.extensions.user_management.contacts import ManagedContacts
from strongroom.extensions.user_management.creation import UserCreation
from strongroom.extensions.user_management.link_redemption import LinkRedemption
from strongroom.extensions.user_management.links import PasswordLinks
from strongroom.extensions.user_management.metadata import MetadataService
from strongroom.extensions.user_management.passwords import PasswordReplacement, TemporaryPasswords
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.sessions.services import SessionServices
from strongroom.identity.users.metadata import UserMetadata
from strongroom.identity.users.services import UserServices
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class UserManagementServices(ServiceGroup):
    """Users as administrators manage them."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._accounts = group(AccountServices)
        self._user_services = group(UserServices)
        self._sessions = group(SessionServices)
        self._audit = group(AuditServices).audit
        self._messages = group(NotificationServices).messages

    @cached_property
    def administration(self) -> Administration:
        return Administration(
            self._accounts.reauthentication,
            ManagedUsersLimit(self._base.rates, self._settings.limits.managed_users_per_caller),
        )

    @cached_property
    def metadata(self) -> UserMetadata:
        return UserMetadata()

    @cached_property
    def metadata_patches(self) -> MetadataService:
        return MetadataService(
            self._database,
            self._user_services.users,
            self.metadata,
            self.administration,
            self._audit,
        )

    @cached_property
    def contacts(self) -> ManagedContacts:
        return ManagedContacts(
            self._database,
            self._user_services.users,
            self._user_services.credentials,
            self.administration,
            self._user_services.credential_changes,
        )

    @cached_property
    def _password_replacement(self) -> PasswordReplacement:
        return PasswordReplacement(
            self._database,
            self._user_services.credentials,
            self._user_services.passwords,
            self._sessions.authorizations,
            self._sessions.throttle,
        )

    @cached_property
    def temporary_passwords(self) -> TemporaryPasswords:
        return TemporaryPasswords(
            self._database,
            self._clock,
            self._user_services.users,
            self._user_services.credentials,
            self._password_replacement,
            self.administration,
            self._user_services.credential_changes,
        )

    @cached_property
    def password_links(self) -> PasswordLinks:
        return PasswordLinks(
            self._database,
            self._clock,
            self._user_services.users,
            self._user_services.account_links,
            self.administration,
            self._messages,
            self._user_services.notices,
            self._audit,
        )

    @cached_property
    def link_redemption(self) -> LinkRedemption:
        return LinkRedemption(
            self._database,
            self._user_services.users,
            self._user_services.credentials,
            self._user_services.account_links,
            self._password_replacement,
            self._user_services.credential_changes,
        )

    @cached_property
    def contact_restoration(self) -> ContactRestoration:
        return ContactRestoration(
            self._database,
            self._user_services.users,
            self._user_services.credentials,
            self._user_services.enrolled_factors,
            self._user_services.contact_links,
            self._password_replacement,
            self._accounts.deactivations,
            self._user_services.credential_changes,
            self._audit,
        )

    @cached_property
    def creation(self) -> UserCreation:
        return UserCreation(
            self._database,
            self._user_services.credentials,
            self._user_services.passwords,
            self._accounts.registration,
            self.metadata,
            self.password_links,
            self.administration,
        )

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self.metadata.deactivate]
