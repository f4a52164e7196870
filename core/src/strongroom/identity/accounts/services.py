"""The services of accounts of users."""

from collections.abc import Iterable
from functools import cached_property, partial

from strongroom.activity.audit.services import AuditServices
from strongroom.clock import DAY
from strongroom.identity.accounts.account_deletion import AccountDeletion
from strongroom.identity.accounts.bindings import BindingService, ExternalCredentials
from strongroom.identity.accounts.change_password import CurrentPassword, PasswordService
from strongroom.identity.accounts.deactivation import Deactivations
from strongroom.identity.accounts.due_enrolments import DueEnrolments
from strongroom.identity.accounts.erasure import AccountErasure
from strongroom.identity.accounts.factor_changes import FactorChanges
from strongroom.identity.accounts.factor_enrolling import FactorEnrolling
from strongroom.identity.accounts.factor_methods import FactorMethods
from strongroom.identity.accounts.factor_reports import FactorReports
from strongroom.identity.accounts.first_password import FirstPassword
from strongroom.identity.accounts.reauthentication import Reauthentication, StepUp
from strongroom.identity.accounts.registration import RegistrationService
from strongroom.identity.accounts.service import AccountService
from strongroom.identity.accounts.suspension import Suspensions
from strongroom.identity.sessions.services import SessionServices
from strongroom.identity.users.services import UserServices
from strongroom.identity.users.user_lists import UserLists
from strongroom.identity.verification.services import VerificationServices
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.services import PRUNING, BaseServices, Groups, ServiceGroup


class AccountServices(ServiceGroup):
    """Accounts of users."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._user_services = group(UserServices)
        self._verification = group(VerificationServices)
        self._sessions = group(SessionServices)
        self._audit = group(AuditServices).audit
        self._users = group(UserServices).users

    @cached_property
    def current_password(self) -> CurrentPassword:
        return CurrentPassword(self._database, self._user_services.passwords, self._base.counters)

    @cached_property
    def reauthentication(self) -> Reauthentication:
        return Reauthentication(
            self._database,
            self._clock,
            self._user_services.credentials,
            self._user_services.passwords,
            self._verification.codes,
            self._user_services.notices,
            self.current_password,
            self._sessions.authorizations,
            self._user_services.enrolled_factors,
        )

    @cached_property
    def passwords(self) -> PasswordService:
        return PasswordService(
            self._database,
            self._user_services.credentials,
            self._user_services.passwords,
            self.current_password,
            self._verification.codes,
            self._sessions.authorizations,
            self._sessions.throttle,
            self._user_services.credential_changes,
        )

    @cached_property
    def first_password(self) -> FirstPassword:
        return FirstPassword(self.passwords, self.reauthentication)

    @cached_property
    def registration(self) -> RegistrationService:
        return RegistrationService(
            self._database,
            self._users,
            self._user_services.credentials,
            self._user_services.passwords,
            self._verification.codes,
            self._verification.captchas,
            self._user_services.consents,
            self._audit,
            self._settings.users.registration,
        )

    @cached_property
    def accounts(self) -> AccountService:
        return AccountService(
            self._database,
            self._users,
            self._user_services.credentials,
            self.suspensions,
            self.deactivations,
            self.reauthentication,
            self._audit,
            UserLists(self._clock),
        )

    @cached_property
    def deactivations(self) -> Deactivations:
        return Deactivations(self._users)

    @cached_property
    def suspensions(self) -> Suspensions:
        return Suspensions(
            self._database,
            self._clock,
            self._users,
            self.deactivations,
            self._user_services.suspension_ends,
            self._user_services.notices,
            self._audit,
        )

    @cached_property
    def deletion(self) -> AccountDeletion:
        return AccountDeletion(
            self._database,
            self._users,
            self._user_services.credentials,
            self.deactivations,
            self.reauthentication,
            self._user_services.notices,
            self._audit,
        )

    @cached_property
    def _erasure(self) -> AccountErasure:
        return AccountErasure(
            self._database,
            self._clock,
            self._users,
            self._user_services.credentials,
            self._sessions.authorizations,
            self._user_services.consents,
            self._audit,
            erase_after=self._settings.users.erase_after_days * DAY,
        )

    @cached_property
    def bindings(self) -> BindingService:
        return BindingService(
            self._database,
            self._users,
            self._user_services.credentials,
            self._verification.codes,
            self.reauthentication,
            self._user_services.notices,
            self._user_services.credential_changes,
            self._sessions.authorizations,
        )

    @cached_property
    def external_credentials(self) -> ExternalCredentials:
        return ExternalCredentials(
            self._database,
            self._user_services.credentials,
            self._user_services.resolver,
            self._verification.codes,
            self._user_services.notices,
            self._user_services.credential_changes,
            self._sessions.authorizations,
            self._audit,
        )

    @cached_property
    def _factor_methods(self) -> FactorMethods:
        return FactorMethods(
            self._users,
            self._user_services.credentials,
            self._user_services.passwords,
            self._sessions.enrolments,
            self._user_services.enrolled_factors,
            self._base.keys,
        )

    @cached_property
    def factor_reports(self) -> FactorReports:
        return FactorReports(
            self._database,
            self._users,
            self._user_services.enrolled_factors,
            self._factor_methods,
            self._user_services.factor_policy,
        )

    @cached_property
    def factor_enrolling(self) -> FactorEnrolling:
        return FactorEnrolling(
            self._database,
            self._sessions.enrolments,
            self._user_services.enrolled_factors,
            self._sessions.authorizations,
            self.reauthentication,
            self._user_services.credential_changes,
            self._factor_methods,
        )

    @cached_property
    def factor_changes(self) -> FactorChanges:
        return FactorChanges(
            self._database,
            self._users,
            self._sessions.enrolments,
            self._user_services.enrolled_factors,
            self._sessions.authorizations,
            self.reauthentication,
            self._user_services.credential_changes,
            self._audit,
            self._user_services.factor_policy,
            self._factor_methods,
        )

    @cached_property
    def step_up(self) -> StepUp:
        return StepUp(
            self._database,
            self._sessions.factors,
            self._user_services.enrolled_factors,
            self._sessions.authorizations,
            self.reauthentication,
            self._audit,
        )

    @cached_property
    def due_enrolments(self) -> DueEnrolments:
        return DueEnrolments(
            self._database,
            self._sessions.enrolments,
            self.factor_enrolling,
            self._factor_methods,
            self._sessions.logins,
        )

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [
            PruneStep("personal data of deleted users", partial(self._erasure.erase, PRUNING)),
        ]
