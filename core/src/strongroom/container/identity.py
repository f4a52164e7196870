"""Assembles the services of users, credentials, codes, tokens and the audit log."""

import logging
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial

from strongroom.access_keys.service import AccessKeyService, KeyLifetimes
from strongroom.access_keys.store import AccessKeyStore
from strongroom.access_keys.verification import AccessKeyAuthenticator, WrongKeys
from strongroom.accounts.bindings import BindingService, ExternalCredentials
from strongroom.accounts.due_enrolments import DueEnrolments
from strongroom.accounts.first_administrator import Setup
from strongroom.accounts.passwords import CurrentPassword, PasswordService
from strongroom.accounts.reauthentication import Reauthentication, StepUp
from strongroom.accounts.registration import RegistrationService
from strongroom.accounts.second_factors import FactorService
from strongroom.accounts.service import AccountDeletion, AccountService
from strongroom.audit.service import AuditListing
from strongroom.audit.verifier import AuditRetention, AuditVerifier
from strongroom.clock import DAY
from strongroom.container.infrastructure import PRUNING, Infrastructure, PruneJob, message_texts
from strongroom.limits.backends import prune_events
from strongroom.notifications.service import CHANNELS, MessageService, Notices, Senders
from strongroom.plugin_api.factors import PasswordlessFactor, Site
from strongroom.plugin_values.service import PluginValues
from strongroom.sessions.factor_challenges import FactorChallenges
from strongroom.sessions.factor_enrolments import FactorEnrolments
from strongroom.sessions.keys import KeyFile, KeyRingError, create_key_file
from strongroom.sessions.login import LoginService
from strongroom.sessions.login_methods import CoreProofs, LoginMethods
from strongroom.sessions.oauth_states import OAuthStateStore
from strongroom.sessions.second_factors import SecondFactors
from strongroom.sessions.service import AuthorizationService
from strongroom.sessions.store import AuthorizationStore, RefreshTokens
from strongroom.sessions.throttle import LoginThrottle
from strongroom.sessions.tokens import TokenIssuer, TokenSigner
from strongroom.users.credentials import CredentialService
from strongroom.users.factor_policy import FactorPolicy
from strongroom.users.factors import EnrolledFactors
from strongroom.users.passwords import PasswordHasher
from strongroom.users.resolver import IdentityResolver
from strongroom.verification.captchas import CaptchaService
from strongroom.verification.codes import CodeService, GuessLimits, Purpose
from strongroom.verification.service import CodeSending, OfferedCodes

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class IdentityServices:
    """The services of users, credentials, tokens and audit."""

    credentials: CredentialService
    setup: Setup
    registration: RegistrationService
    accounts: AccountService
    deletion: AccountDeletion
    bindings: BindingService
    external_credentials: ExternalCredentials
    reauthentication: Reauthentication
    passwords: PasswordService
    hasher: PasswordHasher
    messages: MessageService
    notices: Notices
    captchas: CaptchaService
    code_sending: CodeSending
    login_methods: LoginMethods
    logins: LoginService
    due_enrolments: DueEnrolments
    factor_policy: FactorPolicy
    states: OAuthStateStore
    factors: SecondFactors
    enrolments: FactorEnrolments
    second_factors: FactorService
    step_up: StepUp
    authorizations: AuthorizationService
    access_keys: AccessKeyService
    key_authenticator: AccessKeyAuthenticator
    audit_listing: AuditListing
    audit_retention: AuditRetention
    audit_verifier: AuditVerifier
    plugin_values: PluginValues
    prune_job: PruneJob


def assemble_identity(base: Infrastructure) -> IdentityServices:
    """Create the services in the order of their dependencies."""
    database, users, audit, settings = base.database, base.users, base.audit, base.settings
    hasher = _hasher(base)
    credentials = CredentialService(database, base.clock, hasher, settings.login.default_region)
    resolver = IdentityResolver(users, credentials, settings.users.registration)
    captchas = _captchas(base)
    codes = _codes(base)
    offered = _offered_codes(base)
    messages = _messages(base, offered)
    notices = Notices(credentials, messages)
    policy = _factor_policy(base)
    issuer, authorizations = _authorizations(base, credentials, policy)
    challenges = FactorChallenges(database, base.clock, base.keys)
    enrolled = EnrolledFactors(base.clock, base.keys)
    factors = _second_factors(base, challenges, enrolled, notices)
    enrolments = FactorEnrolments(factors.methods, challenges, enrolled)
    throttle = _throttle(base)
    methods = _login_methods(base, CoreProofs(credentials, codes))
    states = OAuthStateStore(
        database, base.clock, base.keys, base.rates, settings.limits.login_per_address, audit
    )
    audit_retention = AuditRetention(database, base.clock, audit, settings.audit.retention_days)
    current = CurrentPassword(database, credentials, base.counters)
    reauthentication = Reauthentication(
        database, base.clock, credentials, codes, notices, current, authorizations, enrolled
    )
    deletion = AccountDeletion(
        database,
        base.clock,
        users,
        credentials,
        codes,
        authorizations,
        reauthentication,
        notices,
        audit,
        erase_after=settings.users.erase_after_days * DAY,
    )
    plugin_values = PluginValues(database, base.keys, users)
    deletion.on_deletion(plugin_values.remove_all)
    registration = RegistrationService(
        database, users, credentials, codes, captchas, audit, settings.users.registration
    )
    key_store = AccessKeyStore(base.clock)
    access_keys = _access_keys(base, key_store, reauthentication, notices)
    deletion.on_deletion(access_keys.revoke_all)
    logins = _logins(
        base,
        credentials,
        resolver,
        captchas,
        throttle,
        factors,
        enrolments,
        policy,
        notices,
        methods,
        issuer,
    )
    enrolling = FactorService(
        database,
        users,
        credentials,
        enrolments,
        enrolled,
        authorizations,
        reauthentication,
        notices,
        audit,
        base.keys,
        policy,
    )
    setup = Setup(database, base.clock, base.keys, users, registration, audit)
    return IdentityServices(
        credentials=credentials,
        setup=setup,
        registration=registration,
        accounts=AccountService(database, users, credentials, authorizations, notices, audit),
        deletion=deletion,
        bindings=BindingService(database, users, credentials, codes, reauthentication, notices, audit),
        external_credentials=ExternalCredentials(database, credentials, resolver, codes, notices, audit),
        reauthentication=reauthentication,
        passwords=PasswordService(
            database, credentials, current, codes, authorizations, throttle, notices, audit
        ),
        hasher=hasher,
        messages=messages,
        notices=notices,
        captchas=captchas,
        code_sending=CodeSending(
            database, captchas, base.rates, settings.limits, offered, codes, credentials, messages
        ),
        login_methods=methods,
        logins=logins,
        due_enrolments=DueEnrolments(database, enrolments, enrolling, logins, notices),
        factor_policy=policy,
        states=states,
        factors=factors,
        enrolments=enrolments,
        second_factors=enrolling,
        step_up=StepUp(database, factors, enrolled, authorizations, reauthentication, audit),
        authorizations=authorizations,
        access_keys=access_keys,
        key_authenticator=AccessKeyAuthenticator(
            database,
            base.clock,
            key_store,
            WrongKeys(base.rates, settings.limits.wrong_keys_per_address),
        ),
        audit_listing=AuditListing(database, users),
        audit_retention=audit_retention,
        audit_verifier=AuditVerifier(database),
        plugin_values=plugin_values,
        prune_job=PruneJob(
            {
                "captchas": captchas.prune,
                "verification codes": codes.prune,
                "states of browsers": states.prune,
                "challenges of second factors": challenges.prune,
                "setup links": setup.prune,
                "counters": partial(base.counters.prune, database),
                "events of rates": partial(prune_events, database, base.clock),
                "logins and refresh tokens": authorizations.prune,
                "access keys": access_keys.prune,
                "personal data of deleted users": partial(deletion.erase, PRUNING),
                "records of messages": partial(messages.prune, settings.messages.retention_days),
                "audit events": partial(audit_retention.prune, PRUNING),
            }
        ),
    )


def _hasher(base: Infrastructure) -> PasswordHasher:
    passwords = base.settings.passwords
    return PasswordHasher(
        base.keys.derive("passwords"),
        cost=passwords.bcrypt_cost,
        max_concurrent=passwords.max_concurrent_hashes,
        queue_length=passwords.hash_queue,
        watch=base.metrics.hashing if base.metrics else nullcontext,
        on_wait=base.on_wait("hashes"),
    )


def _captchas(base: Infrastructure) -> CaptchaService:
    provider = base.construct(base.selection.captcha, ("captcha",))
    lifetime = base.settings.captcha.lifetime_seconds * 1000
    return CaptchaService(base.database, base.clock, base.keys, provider, lifetime)


def _codes(base: Infrastructure) -> CodeService:
    limits = base.settings.limits
    guesses = GuessLimits(limits.wrong_codes_per_recipient_daily, limits.unknown_codes_per_address)
    return CodeService(base.database, base.clock, base.keys, base.counters, base.rates, guesses)


def _offered_codes(base: Infrastructure) -> OfferedCodes:
    kinds = [choice.extension.code_recipients for choice in base.selection.login_methods]
    declared = [kind for kind in kinds if kind is not None]
    # A login method that declares no kinds may accept codes of any recipient, so none is excluded.
    login_kinds = frozenset[str]().union(*declared) if len(declared) == len(kinds) else None
    return OfferedCodes(login_kinds, base.settings.users.registration)


def _messages(base: Infrastructure, offered: OfferedCodes) -> MessageService:
    senders = {
        channel: [base.construct(choice, ("messages", choice.extension.name)) for choice in choices]
        for channel, choices in base.selection.senders.items()
    }
    _require_codes(base, senders, offered)
    texts = message_texts(base.configuration)
    language = base.settings.messages.language
    service = MessageService(base.database, base.clock, senders, texts, language)
    base.resources.callback(service.close)
    return service


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


def _authorizations(
    base: Infrastructure, credentials: CredentialService, policy: FactorPolicy
) -> tuple[TokenIssuer, AuthorizationService]:
    signer = _signer(base)
    lifetime = base.settings.tokens.refresh_lifetime_seconds * 1000
    refresh_tokens = RefreshTokens(base.clock, base.keys, lifetime=lifetime)
    # 0 days means no maximum age. An authorization must not expire before its access tokens do, even if
    # the lifetime of refresh tokens is configured to be shorter.
    max_age = base.settings.tokens.session_lifetime_days * DAY or None
    sessions = AuthorizationStore(base.clock, lifetime=max(lifetime, signer.lifetime), max_age=max_age)
    issuer = TokenIssuer(sessions, signer, refresh_tokens, base.clock, credentials, policy)
    return issuer, AuthorizationService(
        base.database, sessions, signer, refresh_tokens, issuer, base.users, base.audit
    )


def _access_keys(
    base: Infrastructure,
    store: AccessKeyStore,
    reauthentication: Reauthentication,
    notices: Notices,
) -> AccessKeyService:
    settings = base.settings.access_keys
    maximum = settings.max_lifetime_days * DAY
    lifetimes = KeyLifetimes(
        min(settings.default_lifetime_days * DAY, maximum), maximum, settings.max_per_user
    )
    return AccessKeyService(
        base.database,
        base.clock,
        store,
        base.users,
        reauthentication,
        notices,
        base.audit,
        lifetimes,
    )


def _signer(base: Infrastructure) -> TokenSigner:
    settings = base.settings
    return TokenSigner(
        _key_file(base),
        issuer=settings.public_root + settings.server.base_path,
        lifetime=settings.tokens.lifetime_seconds * 1000,
        clock=base.clock,
    )


def _key_file(base: Infrastructure) -> KeyFile:
    tokens, path = base.settings.tokens, base.settings.keys_path
    try:
        # A configured file is never created, because several servers may have to share it.
        if tokens.keys_file is None:
            create_key_file(path, tokens.algorithm, base.clock.now())
        return KeyFile(path, tokens.algorithm)
    except KeyRingError as error:
        base.refuse(("tokens", "keys_file"), str(error))


def _login_methods(base: Infrastructure, proofs: CoreProofs) -> LoginMethods:
    methods = [
        base.construct(choice, ("login", choice.extension.name), proofs)
        for choice in base.selection.login_methods
    ]
    return LoginMethods(methods, base.selection.plugins.errors)


def _factor_policy(base: Infrastructure) -> FactorPolicy:
    settings = base.settings.second_factors
    return FactorPolicy(base.clock, settings.required_for, settings.grace_days * DAY)


def _second_factors(
    base: Infrastructure, challenges: FactorChallenges, enrolled: EnrolledFactors, notices: Notices
) -> SecondFactors:
    site = Site(base.settings.public_root)
    methods = {}
    for choice in base.selection.second_factors:
        services = (site,) if issubclass(choice.extension, PasswordlessFactor) else ()
        name = choice.extension.name
        methods[name] = base.construct(choice, ("second_factors", name), *services)
    return SecondFactors(
        base.database, base.clock, base.counters, methods, challenges, enrolled, notices, base.audit
    )


def _throttle(base: Infrastructure) -> LoginThrottle:
    limits = base.settings.limits
    return LoginThrottle(
        base.database,
        base.counters,
        free_failures=limits.login_failures_before_captcha,
        free_failures_per_address=limits.login_failures_per_address_before_captcha,
        lifetime=limits.login_failures_seconds * 1000,
    )


def _logins(
    base: Infrastructure,
    credentials: CredentialService,
    resolver: IdentityResolver,
    captchas: CaptchaService,
    throttle: LoginThrottle,
    factors: SecondFactors,
    enrolments: FactorEnrolments,
    policy: FactorPolicy,
    notices: Notices,
    methods: LoginMethods,
    issuer: TokenIssuer,
) -> LoginService:
    return LoginService(
        base.database,
        base.clock,
        issuer,
        methods,
        credentials,
        resolver,
        captchas,
        throttle,
        factors,
        enrolments,
        policy,
        notices,
        base.audit,
        base.keys,
    )
