"""The services of provisioning."""

from collections.abc import Iterable
from datetime import timedelta
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.content.tenants.services import TenantServices
from strongroom.extensions.provisioning.address_owners import AddressOwners
from strongroom.extensions.provisioning.directories import DirectoryService
from strongroom.extensions.provisioning.directory_errors import DirectoryErrors
from strongroom.extensions.provisioning.groups import ProvisionedGroups
from strongroom.extensions.provisioning.handovers import Handovers
from strongroom.extensions.provisioning.users import ProvisionedUsers
from strongroom.extensions.transfers.services import TransferServices
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.service_accounts.services import ServerAccountServices
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class ProvisioningServices(ServiceGroup):
    """Directories, and the users and groups that they provision."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._tenants = group(TenantServices)
        self._users = group(UserServices)
        self._accounts = group(AccountServices)
        self._server_accounts = group(ServerAccountServices)
        self._transfers = group(TransferServices)
        self._audit = group(AuditServices).audit

    @cached_property
    def directories(self) -> DirectoryService:
        return DirectoryService(
            self._database,
            self._clock,
            self._users.users,
            self._tenants.memberships,
            self._server_accounts.store,
            self._audit,
        )

    @cached_property
    def directory_errors(self) -> DirectoryErrors:
        return DirectoryErrors(self._database, self._clock, self.directories)

    @cached_property
    def handovers(self) -> Handovers:
        return Handovers(self._database, self._clock, self._transfers.transfers)

    @cached_property
    def users(self) -> ProvisionedUsers:
        return ProvisionedUsers(
            self._database,
            self._clock,
            self.directories,
            self._users.users,
            self._users.credentials,
            self._users.credential_changes,
            self._tenants.memberships,
            self._tenants.tenants,
            self._accounts.deactivations,
            self._accounts.suspensions,
            self._users.suspension_ends,
            self._accounts.deletion,
            self.handovers,
            self.address_owners,
            self._audit,
        )

    @cached_property
    def address_owners(self) -> AddressOwners:
        return AddressOwners()

    @cached_property
    def groups(self) -> ProvisionedGroups:
        return ProvisionedGroups(
            self._database,
            self._clock,
            self.directories,
            self._tenants.group_members,
            self._tenants.groups,
        )

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self.directories.deactivate, self.users.deactivate]

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("errors of directories", self.directory_errors.prune)]

    def register_jobs(self) -> Iterable[Job]:
        yield Job(
            "handovers",
            every=timedelta(minutes=1),
            run=lambda run: self.handovers.transfer_due(lambda: run.should_stop),
        )
