"""The services of access keys."""

from collections.abc import Iterable
from datetime import timedelta
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.clock import DAY
from strongroom.identity.access_keys.service import AccessKeyService, KeyLifetimes
from strongroom.identity.access_keys.store import AccessKeyStore
from strongroom.identity.access_keys.user_exports import key_exports
from strongroom.identity.access_keys.verification import AccessKeyAuthenticator, WrongKeys
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.service_accounts.services import ServerAccountServices
from strongroom.identity.sessions.services import SessionServices
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class AccessKeyServices(ServiceGroup):
    """Access keys."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._users = group(UserServices).users
        self._accounts = group(AccountServices)
        self._user_services = group(UserServices)
        self._audit = group(AuditServices).audit

    @cached_property
    def _key_store(self) -> AccessKeyStore:
        return AccessKeyStore(self._clock)

    @cached_property
    def access_keys(self) -> AccessKeyService:
        settings = self._settings.access_keys
        maximum = settings.max_lifetime_days * DAY
        default = min(settings.default_lifetime_days * DAY, maximum)
        return AccessKeyService(
            self._database,
            self._clock,
            self._key_store,
            self._users,
            self._accounts.reauthentication,
            self._user_services.notices,
            self._audit,
            self._group(ServerAccountServices).store,
            self._group(SessionServices).authorizations,
            KeyLifetimes(default, maximum, settings.max_per_user),
        )

    @cached_property
    def key_authenticator(self) -> AccessKeyAuthenticator:
        wrong_keys = WrongKeys(self._base.rates, self._settings.limits.wrong_keys_per_address)
        return AccessKeyAuthenticator(self._database, self._clock, self._key_store, wrong_keys)

    def register_jobs(self) -> Iterable[Job]:
        keys = self.access_keys
        return [Job("warn_of_ending_keys", timedelta(hours=1), lambda _: keys.warn())]

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("access keys", self.access_keys.prune)]

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self._key_store.deactivate]

    def register_user_exports(self) -> Iterable[UserExport]:
        return key_exports(self._database)
