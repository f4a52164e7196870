"""The services of users' own data."""

from collections.abc import Iterable
from datetime import timedelta
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.clock import DAY
from strongroom.extensions.own_data.own_exports import OwnExports
from strongroom.extensions.own_data.scheduled_deletions import ScheduledDeletions
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.sessions.services import SessionServices
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.jobs import Job
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class OwnDataServices(ServiceGroup):
    """Users' own data."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._accounts = group(AccountServices)
        self._user_services = group(UserServices)
        self._audit = group(AuditServices).audit

    @cached_property
    def scheduled_deletions(self) -> ScheduledDeletions:
        return ScheduledDeletions(
            self._database,
            self._clock,
            self._user_services.users,
            self._accounts.deletion,
            self._group(SessionServices).authorizations,
            self._user_services.notices,
            self._audit,
            grace=self._settings.users.deletion_grace_days * DAY,
        )

    @cached_property
    def own_exports(self) -> OwnExports:
        return OwnExports(
            self._database,
            self._clock,
            self._accounts.reauthentication,
            self._base.rates,
            self._user_services.notices,
            self._base.translations,
            self._audit,
            rates=self._settings.limits.own_exports_per_user,
            product=self._settings.pages.name,
        )

    def register_jobs(self) -> Iterable[Job]:
        deletions = self.scheduled_deletions
        return [Job("delete_due_users", timedelta(minutes=10), lambda _: deletions.delete_due())]
