"""The services of logins and their tokens."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.activity.audit.services import AuditServices
from strongroom.clock import DAY
from strongroom.foundation.limits.attempts import Attempts
from strongroom.foundation.limits.turns import Turns
from strongroom.identity.sessions.access_tokens import TokenSigner
from strongroom.identity.sessions.browser_sessions import BrowserSessions
from strongroom.identity.sessions.due_consents import DueConsents
from strongroom.identity.sessions.due_factors import DueFactors
from strongroom.identity.sessions.due_password_changes import DuePasswordChanges, NewPasswords
from strongroom.identity.sessions.factor_challenges import FactorChallenges
from strongroom.identity.sessions.factor_enrolments import FactorEnrolments
from strongroom.identity.sessions.factor_verification import SecondFactors
from strongroom.identity.sessions.login import LoginService
from strongroom.identity.sessions.login_challenges import LoginChallenges
from strongroom.identity.sessions.login_completion import LoginCompletion, LoginUsers
from strongroom.identity.sessions.login_conditions import (
    AllowedUser,
    LoginConditions,
    RecordedSource,
    SettledCredentials,
)
from strongroom.identity.sessions.login_methods import CoreProofs, LoginMethods
from strongroom.identity.sessions.login_records import LoginRecords
from strongroom.identity.sessions.login_sources import LoginSources
from strongroom.identity.sessions.oauth_states import OAuthStateStore
from strongroom.identity.sessions.password_attempts import PasswordAttempts
from strongroom.identity.sessions.refresh_tokens import RefreshTokens
from strongroom.identity.sessions.registered_conditions import RegisteredConditions
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.sessions.signing_keys import (
    STATEMENT_ALGORITHM,
    STATEMENT_REMEDY,
    KeyFile,
    KeyRingError,
    ensure_key,
)
from strongroom.identity.sessions.statements import StatementSigner
from strongroom.identity.sessions.store import AuthorizationStore
from strongroom.identity.sessions.throttle import WAIT_SECONDS, WINDOW, AttemptedNames, LoginThrottle
from strongroom.identity.sessions.token_issuing import TokenIssuer
from strongroom.identity.sessions.user_exports import login_exports
from strongroom.identity.users.services import UserServices
from strongroom.identity.verification.services import VerificationServices
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.factors import PasswordlessFactor, Site
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.gateway.exchange import release_slot
from strongroom.web.parts import UserEnding
from strongroom.web.services import BaseServices, Groups, ServiceGroup


class SessionServices(ServiceGroup):
    """Logins and their tokens."""

    def __init__(self, base: BaseServices, group: Groups) -> None:
        super().__init__(base, group)
        self._user_services = group(UserServices)
        self._users = group(UserServices).users
        self._audit = group(AuditServices).audit
        self._verification = group(VerificationServices)

    @cached_property
    def _key_file(self) -> KeyFile:
        return _open_key_file(self._base)

    @property
    def _issuer(self) -> str:
        return self._settings.public_root + self._settings.server.base_path

    @cached_property
    def signer(self) -> TokenSigner:
        return TokenSigner(
            self._key_file,
            issuer=self._issuer,
            lifetime=self._settings.tokens.lifetime_seconds * 1000,
            clock=self._clock,
        )

    @cached_property
    def statements(self) -> StatementSigner:
        return StatementSigner(self._key_file, self._issuer, self._clock)

    @cached_property
    def _refresh_tokens(self) -> RefreshTokens:
        return self.make_refresh_tokens("refresh-token")

    def make_refresh_tokens(self, purpose: str) -> RefreshTokens:
        """Return the refresh tokens of a purpose, with the configured lifetimes."""
        tokens = self._settings.tokens
        lifetime, reuse = tokens.refresh_lifetime_seconds * 1000, tokens.refresh_reuse_seconds * 1000
        keys = self._base.keys
        return RefreshTokens(self._clock, keys, lifetime=lifetime, reuse=reuse, purpose=purpose)

    @cached_property
    def authorization_store(self) -> AuthorizationStore:
        tokens = self._settings.tokens
        # An authorization must not expire before its access tokens do, even if the lifetime of refresh
        # tokens is configured to be shorter.
        lifetime = max(tokens.refresh_lifetime_seconds * 1000, self.signer.lifetime)
        # 0 days means no maximum age.
        max_age = tokens.session_lifetime_days * DAY or None
        return AuthorizationStore(self._clock, lifetime=lifetime, max_age=max_age)

    @cached_property
    def token_issuer(self) -> TokenIssuer:
        return TokenIssuer(
            self.authorization_store,
            self.signer,
            self._refresh_tokens,
            self._clock,
            self._user_services.factor_policy,
            self._user_services.suspension_ends,
        )

    @cached_property
    def authorizations(self) -> AuthorizationService:
        return AuthorizationService(
            self._database,
            self.authorization_store,
            self.signer,
            self._refresh_tokens,
            self.token_issuer,
            self._users,
            self._audit,
        )

    @cached_property
    def factor_challenges(self) -> FactorChallenges:
        return FactorChallenges(self._database, self._clock, self._base.keys)

    @cached_property
    def factors(self) -> SecondFactors:
        base, site, methods = self._base, Site(self._settings.public_root), {}
        for choice in base.selection.second_factors:
            services = (site,) if issubclass(choice.extension, PasswordlessFactor) else ()
            name = choice.extension.name
            methods[name] = base.construct(choice, ("second_factors", name), *services)
        return SecondFactors(
            base.database,
            base.clock,
            base.counters,
            methods,
            self.factor_challenges,
            self._user_services.enrolled_factors,
            self._user_services.notices,
            self._audit,
        )

    @cached_property
    def enrolments(self) -> FactorEnrolments:
        return FactorEnrolments(
            self.factors.methods, self.factor_challenges, self._user_services.enrolled_factors
        )

    @cached_property
    def throttle(self) -> LoginThrottle:
        base, limits = self._base, self._settings.limits
        lifetime = limits.login_failures_seconds * 1000
        return LoginThrottle(
            self._database,
            Attempts(base.clock, base.keys, window=WINDOW, lifetime=lifetime),
            Turns(self._settings.advanced.hash_queue, WAIT_SECONDS, release_slot),
            free_failures=limits.login_failures_before_captcha,
            free_failures_per_address=limits.login_failures_per_address_before_captcha,
        )

    @cached_property
    def login_methods(self) -> LoginMethods:
        base, users = self._base, self._user_services
        proofs = CoreProofs(users.credentials, users.passwords, self._verification.codes)
        methods = [
            base.construct(choice, ("login", choice.extension.name), proofs)
            for choice in base.selection.login_methods
        ]
        return LoginMethods(methods, base.selection.plugins.errors)

    @cached_property
    def _due_consents(self) -> DueConsents:
        return DueConsents(self._database, self.factor_challenges, self._user_services.consents)

    @cached_property
    def _password_attempts(self) -> PasswordAttempts:
        return PasswordAttempts(
            self._user_services.credentials, self._verification.captchas, self.throttle
        )

    @cached_property
    def registered_conditions(self) -> RegisteredConditions:
        return RegisteredConditions()

    @cached_property
    def _login_conditions(self) -> LoginConditions:
        users = self._user_services
        return LoginConditions(
            [
                self._due_consents,
                AllowedUser(self.token_issuer),
                # Before a second factor is asked for, and again in each later step.
                self.registered_conditions,
                DuePasswordChanges(users.passwords),
                DueFactors(self._clock, self.factors, self.enrolments, users.factor_policy),
                NewPasswords(users.passwords, self.authorization_store),
                self._password_attempts,
                RecordedSource(LoginSources(self._base.keys)),
                # After all changes of credentials, a password or a factor.
                SettledCredentials(users.credential_changes),
            ]
        )

    @cached_property
    def login_challenges(self) -> LoginChallenges:
        return LoginChallenges(
            self._database,
            self._clock,
            self._user_services.credentials,
            self.factors,
            self._due_consents,
        )

    @cached_property
    def _login_records(self) -> LoginRecords:
        credentials = self._user_services.credentials
        return LoginRecords(
            self._database,
            credentials,
            self._password_attempts,
            AttemptedNames(credentials, self._base.keys),
            self._audit,
        )

    @cached_property
    def _login_completion(self) -> LoginCompletion:
        users = self._user_services
        return LoginCompletion(
            self._database,
            self._clock,
            LoginUsers(users.credentials, users.resolver),
            self._login_conditions,
            self.token_issuer,
            self.login_methods,
            self._login_records,
        )

    @cached_property
    def logins(self) -> LoginService:
        return LoginService(
            self._clock,
            self.login_methods,
            self._login_conditions,
            self._password_attempts,
            self.login_challenges,
            self._login_completion,
            self._login_records,
        )

    @cached_property
    def browser_sessions(self) -> BrowserSessions:
        return BrowserSessions(self.authorizations)

    @cached_property
    def states(self) -> OAuthStateStore:
        base, limit = self._base, self._settings.limits.login_per_address
        return OAuthStateStore(base.database, base.clock, base.keys, base.rates, limit, self._audit)

    def register_deactivations(self) -> Iterable[UserEnding]:
        stores = (self.authorizations, self.factor_challenges, self.states)
        return [store.deactivate for store in stores]

    def register_user_exports(self) -> Iterable[UserExport]:
        return login_exports(self._database)

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [
            PruneStep("states of browsers", self.states.prune),
            PruneStep("challenges of second factors", self.factor_challenges.prune),
            PruneStep("logins and refresh tokens", self.authorizations.prune),
        ]


def _open_key_file(base: BaseServices) -> KeyFile:
    tokens, path, now = base.settings.tokens, base.settings.keys_path, base.clock.now()
    has_statements = bool(base.selection.plugins.token_types)
    try:
        # A configured file is never created, because several servers may have to share it.
        if tokens.keys_file is None:
            path = base.generated(path)
            ensure_key(path, tokens.algorithm, now)
            if has_statements:
                ensure_key(path, STATEMENT_ALGORITHM, now)
        file = KeyFile(path, tokens.algorithm)
        if has_statements:
            file.ring().statement_key()
    except KeyRingError as error:
        base.refuse(("tokens", "keys_file"), str(error))
    except OSError as error:
        remedy = f"let the server write it, or run: {STATEMENT_REMEDY}"
        base.refuse(("tokens", "keys_file"), f"{path} cannot be written: {error.strerror}; {remedy}")
    return file
