"""The services of the setup of the first administrator."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.extensions.first_start.first_administrator import Setup
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class FirstStartServices(ServiceGroup):
    """The setup of the first administrator."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._users = group(UserServices).users
        self._registration = group(AccountServices).registration
        self._audit = group(AuditServices).audit

    @cached_property
    def setup(self) -> Setup:
        return Setup(
            self._database,
            self._clock,
            self._base.keys,
            self._users,
            self._registration,
            self._audit,
        )

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("setup links", self.setup.prune)]
