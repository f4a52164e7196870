"""The services of imports of users."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.extensions.user_imports.caller_rights import CallerRights
from strongroom.extensions.user_imports.lines import LineParser
from strongroom.extensions.user_imports.plan import Planner
from strongroom.extensions.user_imports.service import UserImports
from strongroom.extensions.user_imports.store import ImportStore
from strongroom.extensions.user_imports.user_export_files import ExportedFactors, UserExports
from strongroom.extensions.user_imports.worker import ImportWorker
from strongroom.extensions.user_imports.writer import ImportWriter
from strongroom.extensions.user_management.administration import ManagedUsersLimit
from strongroom.extensions.user_management.services import UserManagementServices
from strongroom.identity.access_keys.store import AccessKeyStore
from strongroom.identity.accounts.services import AccountServices
from strongroom.identity.grants.store import GrantStore
from strongroom.identity.sessions.services import SessionServices
from strongroom.identity.users.bulk import BulkUsers
from strongroom.identity.users.services import UserServices
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class UserImportServices(ServiceGroup):
    """Imports of users."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._user_services = group(UserServices)
        self._metadata = group(UserManagementServices).metadata
        self._accounts = group(AccountServices)
        self._sessions = group(SessionServices)
        self._audit = group(AuditServices).audit

    @cached_property
    def _store(self) -> ImportStore:
        return ImportStore(self._clock, self._base.keys)

    @cached_property
    def bulk_users(self) -> BulkUsers:
        return BulkUsers(self._clock, self._user_services.credentials, self._metadata)

    @cached_property
    def user_imports(self) -> UserImports:
        max_lines = self._settings.users.max_import_lines
        return UserImports(self._database, self._store, self._audit, max_lines)

    @cached_property
    def _limit(self) -> ManagedUsersLimit:
        return ManagedUsersLimit(self._base.rates, self._settings.limits.managed_users_per_caller)

    @cached_property
    def import_worker(self) -> ImportWorker:
        users = self._user_services
        worker = ImportWorker(
            self._database,
            self._store,
            LineParser(self._clock, users.credentials, users.passwords, self._sessions.factors.methods),
            Planner(self._store, self.bulk_users, users.users, users.credentials),
            self._writer,
            CallerRights(self._clock, AccessKeyStore(self._clock), GrantStore(self._clock)),
            self._limit,
            self._audit,
        )
        self._base.resources.callback(worker.close)
        return worker

    @cached_property
    def user_exports(self) -> UserExports:
        users = self._user_services
        factors = ExportedFactors(users.enrolled_factors, self._sessions.factors.methods)
        return UserExports(
            self._database, self._clock, self.bulk_users, users.hasher, factors, self._audit
        )

    @cached_property
    def _writer(self) -> ImportWriter:
        users = self._user_services
        return ImportWriter(
            self.bulk_users,
            self._metadata,
            users.users,
            users.credentials,
            users.passwords,
            users.enrolled_factors,
            self._accounts.suspensions,
            users.credential_changes,
            self._audit,
        )

    def start(self) -> None:
        self.import_worker.start()

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("user imports", self.user_imports.prune)]
