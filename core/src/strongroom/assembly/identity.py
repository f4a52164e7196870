"""Assembles the services of users, credentials, codes, tokens and the audit log."""

import logging
from contextlib import nullcontext
from functools import cached_property

from strongroom.activity.audit.service import AuditListing
from strongroom.activity.audit.verifier import AuditRetention, AuditVerifier
from strongroom.activity.notifications.service import CHANNELS, MessageService, Senders
from strongroom.activity.notifications.templates import MessageTexts
from strongroom.assembly.infrastructure import (
    Infrastructure,
    ServiceGroup,
    message_texts,
)
from strongroom.clock import DAY
from strongroom.foundation.limits.attempts import Attempts
from strongroom.foundation.limits.turns import Turns
from strongroom.identity.access_keys.service import AccessKeyService, KeyLifetimes
from strongroom.identity.access_keys.store import AccessKeyStore
from strongroom.identity.access_keys.verification import AccessKeyAuthenticator, WrongKeys
from strongroom.identity.accounts.bindings import BindingService, ExternalCredentials
from strongroom.identity.accounts.due_enrolments import DueEnrolments
from strongroom.identity.accounts.first_administrator import Setup
from strongroom.identity.accounts.passwords import CurrentPassword, PasswordService
from strongroom.identity.accounts.reauthentication import Reauthentication, StepUp
from strongroom.identity.accounts.registration import RegistrationService
from strongroom.identity.accounts.second_factors import FactorService
from strongroom.identity.accounts.service import AccountDeletion, AccountService
from strongroom.identity.sessions.factor_challenges import FactorChallenges
from strongroom.identity.sessions.factor_enrolments import FactorEnrolments
from strongroom.identity.sessions.keys import KeyFile, KeyRingError, create_key_file
from strongroom.identity.sessions.login import LoginService
from strongroom.identity.sessions.login_methods import CoreProofs, LoginMethods
from strongroom.identity.sessions.oauth_states import OAuthStateStore
from strongroom.identity.sessions.second_factors import SecondFactors
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.sessions.store import AuthorizationStore, RefreshTokens
from strongroom.identity.sessions.throttle import WAIT_SECONDS, WINDOW, LoginThrottle
from strongroom.identity.sessions.tokens import TokenIssuer, TokenSigner
from strongroom.identity.users.contacts import Notices
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.factor_policy import FactorPolicy
from strongroom.identity.users.factors import EnrolledFactors
from strongroom.identity.users.passwords import PasswordHasher
from strongroom.identity.users.plugin_values import PluginValues
from strongroom.identity.users.resolver import IdentityResolver
from strongroom.identity.users.service import UserLocales
from strongroom.identity.verification.captchas import CaptchaService
from strongroom.identity.verification.codes import CodeService, GuessLimits, Purpose
from strongroom.identity.verification.service import CodeSending, OfferedCodes
from strongroom.plugin_api.factors import PasswordlessFactor, Site
from strongroom.web.gateway.exchange import step_aside

logger = logging.getLogger(__name__)


class IdentityServices(ServiceGroup):
    """The services of users, credentials, tokens and audit."""

    # Proofs: passwords, codes, captchas.

    @cached_property
    def hasher(self) -> PasswordHasher:
        advanced, metrics = self._settings.advanced, self._base.metrics
        return PasswordHasher(
            self._base.keys.derive("passwords"),
            cost=self._settings.passwords.bcrypt_cost,
            max_concurrent=advanced.max_concurrent_hashes,
            queue_length=advanced.hash_queue,
            watch=metrics.hashing if metrics else nullcontext,
            on_wait=self._base.on_wait("hashes"),
            on_block=step_aside,
        )

    @cached_property
    def credentials(self) -> CredentialService:
        region = self._settings.login.default_region
        return CredentialService(self._database, self._clock, self.hasher, region)

    @cached_property
    def _resolver(self) -> IdentityResolver:
        return IdentityResolver(self._users, self.credentials, self._settings.users.registration)

    @cached_property
    def captchas(self) -> CaptchaService:
        provider = self._base.construct(self._base.selection.captcha, ("captcha",))
        lifetime = self._settings.advanced.captcha_lifetime_seconds * 1000
        return CaptchaService(self._database, self._clock, self._base.keys, provider, lifetime)

    @cached_property
    def codes(self) -> CodeService:
        base, limits = self._base, self._settings.limits
        guesses = GuessLimits(limits.wrong_codes_per_recipient_daily, limits.unknown_codes_per_address)
        return CodeService(base.database, base.clock, base.keys, base.counters, base.rates, guesses)

    @cached_property
    def _offered_codes(self) -> OfferedCodes:
        kinds = [choice.extension.code_recipients for choice in self._base.selection.login_methods]
        declared = [kind for kind in kinds if kind is not None]
        # A login method that declares no kinds may accept codes of any recipient, so none is excluded.
        login_kinds = frozenset[str]().union(*declared) if len(declared) == len(kinds) else None
        return OfferedCodes(login_kinds, self._settings.users.registration)

    @cached_property
    def messages(self) -> MessageService:
        base = self._base
        senders = {
            channel: [base.construct(choice, ("messages", choice.extension.name)) for choice in choices]
            for channel, choices in base.selection.senders.items()
        }
        _require_codes(base, senders, self._offered_codes)
        texts = MessageTexts(base.translations, message_texts(base.configuration))
        language = base.settings.messages.language
        service = MessageService(base.database, base.clock, senders, texts, language)
        base.resources.callback(service.close)
        return service

    @cached_property
    def user_locales(self) -> UserLocales:
        return UserLocales(self._database, self._base.users)

    @cached_property
    def notices(self) -> Notices:
        return Notices(self.credentials, self._base.users, self.messages)

    @cached_property
    def code_sending(self) -> CodeSending:
        return CodeSending(
            self._database,
            self.captchas,
            self._base.rates,
            self._settings.limits,
            self._offered_codes,
            self.codes,
            self.credentials,
            self._base.users,
            self.messages,
        )

    # Tokens.

    @cached_property
    def factor_policy(self) -> FactorPolicy:
        settings = self._settings.second_factors
        return FactorPolicy(self._clock, settings.required_for, settings.grace_days * DAY)

    @cached_property
    def _signer(self) -> TokenSigner:
        return TokenSigner(
            _key_file(self._base),
            issuer=self._settings.public_root + self._settings.server.base_path,
            lifetime=self._settings.tokens.lifetime_seconds * 1000,
            clock=self._clock,
        )

    @cached_property
    def _refresh_tokens(self) -> RefreshTokens:
        lifetime = self._settings.tokens.refresh_lifetime_seconds * 1000
        return RefreshTokens(self._clock, self._base.keys, lifetime=lifetime)

    @cached_property
    def _authorization_store(self) -> AuthorizationStore:
        tokens = self._settings.tokens
        # An authorization must not expire before its access tokens do, even if the lifetime of refresh
        # tokens is configured to be shorter.
        lifetime = max(tokens.refresh_lifetime_seconds * 1000, self._signer.lifetime)
        # 0 days means no maximum age.
        max_age = tokens.session_lifetime_days * DAY or None
        return AuthorizationStore(self._clock, lifetime=lifetime, max_age=max_age)

    @cached_property
    def _token_issuer(self) -> TokenIssuer:
        return TokenIssuer(
            self._authorization_store,
            self._signer,
            self._refresh_tokens,
            self._clock,
            self.credentials,
            self.factor_policy,
        )

    @cached_property
    def authorizations(self) -> AuthorizationService:
        return AuthorizationService(
            self._database,
            self._authorization_store,
            self._signer,
            self._refresh_tokens,
            self._token_issuer,
            self._users,
            self._audit,
        )

    # Second factors.

    @cached_property
    def factor_challenges(self) -> FactorChallenges:
        return FactorChallenges(self._database, self._clock, self._base.keys)

    @cached_property
    def _enrolled_factors(self) -> EnrolledFactors:
        return EnrolledFactors(self._clock, self._base.keys)

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
            self._enrolled_factors,
            self.notices,
            base.audit,
        )

    @cached_property
    def enrolments(self) -> FactorEnrolments:
        return FactorEnrolments(self.factors.methods, self.factor_challenges, self._enrolled_factors)

    @cached_property
    def second_factors(self) -> FactorService:
        return FactorService(
            self._database,
            self._users,
            self.credentials,
            self.enrolments,
            self._enrolled_factors,
            self.authorizations,
            self.reauthentication,
            self.notices,
            self._audit,
            self._base.keys,
            self.factor_policy,
        )

    @cached_property
    def step_up(self) -> StepUp:
        return StepUp(
            self._database,
            self.factors,
            self._enrolled_factors,
            self.authorizations,
            self.reauthentication,
            self._audit,
        )

    # Logins.

    @cached_property
    def _throttle(self) -> LoginThrottle:
        base, limits = self._base, self._settings.limits
        lifetime = limits.login_failures_seconds * 1000
        return LoginThrottle(
            self._database,
            Attempts(base.clock, base.keys, window=WINDOW, lifetime=lifetime),
            Turns(self._settings.advanced.hash_queue, WAIT_SECONDS, step_aside),
            free_failures=limits.login_failures_before_captcha,
            free_failures_per_address=limits.login_failures_per_address_before_captcha,
        )

    @cached_property
    def login_methods(self) -> LoginMethods:
        base, proofs = self._base, CoreProofs(self.credentials, self.codes)
        methods = [
            base.construct(choice, ("login", choice.extension.name), proofs)
            for choice in base.selection.login_methods
        ]
        return LoginMethods(methods, base.selection.plugins.errors)

    @cached_property
    def logins(self) -> LoginService:
        return LoginService(
            self._database,
            self._clock,
            self._token_issuer,
            self.login_methods,
            self.credentials,
            self._resolver,
            self.captchas,
            self._throttle,
            self.factors,
            self.enrolments,
            self.factor_policy,
            self.notices,
            self._audit,
            self._base.keys,
        )

    @cached_property
    def due_enrolments(self) -> DueEnrolments:
        return DueEnrolments(
            self._database, self.enrolments, self.second_factors, self.logins, self.notices
        )

    @cached_property
    def states(self) -> OAuthStateStore:
        base, limit = self._base, self._settings.limits.login_per_address
        return OAuthStateStore(base.database, base.clock, base.keys, base.rates, limit, base.audit)

    # Accounts.

    @cached_property
    def _current_password(self) -> CurrentPassword:
        return CurrentPassword(self._database, self.credentials, self._base.counters)

    @cached_property
    def reauthentication(self) -> Reauthentication:
        return Reauthentication(
            self._database,
            self._clock,
            self.credentials,
            self.codes,
            self.notices,
            self._current_password,
            self.authorizations,
            self._enrolled_factors,
        )

    @cached_property
    def passwords(self) -> PasswordService:
        return PasswordService(
            self._database,
            self.credentials,
            self._current_password,
            self.codes,
            self.authorizations,
            self._throttle,
            self.notices,
            self._audit,
        )

    @cached_property
    def registration(self) -> RegistrationService:
        return RegistrationService(
            self._database,
            self._users,
            self.credentials,
            self.codes,
            self.captchas,
            self._audit,
            self._settings.users.registration,
        )

    @cached_property
    def setup(self) -> Setup:
        return Setup(
            self._database,
            self._clock,
            self._base.keys,
            self._users,
            self.registration,
            self._audit,
        )

    @cached_property
    def accounts(self) -> AccountService:
        return AccountService(
            self._database,
            self._users,
            self.credentials,
            self.authorizations,
            self.notices,
            self._audit,
        )

    @cached_property
    def deletion(self) -> AccountDeletion:
        return AccountDeletion(
            self._database,
            self._clock,
            self._users,
            self.credentials,
            self.codes,
            self.authorizations,
            self.reauthentication,
            self.notices,
            self._audit,
            erase_after=self._settings.users.erase_after_days * DAY,
        )

    @cached_property
    def bindings(self) -> BindingService:
        return BindingService(
            self._database,
            self._users,
            self.credentials,
            self.codes,
            self.reauthentication,
            self.notices,
            self._audit,
        )

    @cached_property
    def external_credentials(self) -> ExternalCredentials:
        return ExternalCredentials(
            self._database,
            self.credentials,
            self._resolver,
            self.codes,
            self.notices,
            self._audit,
        )

    @cached_property
    def plugin_values(self) -> PluginValues:
        return PluginValues(self._database, self._base.keys, self._users)

    # Access keys.

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
            self.reauthentication,
            self.notices,
            self._audit,
            KeyLifetimes(default, maximum, settings.max_per_user),
        )

    @cached_property
    def key_authenticator(self) -> AccessKeyAuthenticator:
        wrong_keys = WrongKeys(self._base.rates, self._settings.limits.wrong_keys_per_address)
        return AccessKeyAuthenticator(self._database, self._clock, self._key_store, wrong_keys)

    # Audit.

    @cached_property
    def audit_listing(self) -> AuditListing:
        return AuditListing(self._database, self._users)

    @cached_property
    def audit_retention(self) -> AuditRetention:
        days = self._settings.audit.retention_days
        return AuditRetention(self._database, self._clock, self._audit, days)

    @cached_property
    def audit_verifier(self) -> AuditVerifier:
        return AuditVerifier(self._database)


def _require_codes(base: Infrastructure, senders: Senders, offered: OfferedCodes) -> None:
    """Refuse a channel whose senders cannot send a required purpose; warn about optional ones."""
    for kind, channel in CHANNELS.items():
        missing = {
            purpose
            for purpose in Purpose
            if senders[channel] and not any(sender.can_send(purpose) for sender in senders[channel])
        }
        if needed := sorted(missing & offered.required(kind)):
            base.refuse(
                ("messages", channel),
                f"no sender can send codes for {', '.join(needed)}; add templates with these names",
            )
        if missing:
            names = ", ".join(sorted(missing))
            logger.warning(
                "No sender of %s can send codes for %s; requests for them get 501", channel, names
            )


def _key_file(base: Infrastructure) -> KeyFile:
    tokens, path = base.settings.tokens, base.settings.keys_path
    try:
        # A configured file is never created, because several servers may have to share it.
        if tokens.keys_file is None:
            path = base.generated(path)
            create_key_file(path, tokens.algorithm, base.clock.now())
        return KeyFile(path, tokens.algorithm)
    except KeyRingError as error:
        base.refuse(("tokens", "keys_file"), str(error))
