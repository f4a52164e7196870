"""Makes every service of the domain, each once, and puts them together. Knows nothing of HTTP."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from sqlalchemy.exc import ArgumentError, NoSuchModuleError

from strongroom.accounts.bindings import BindingService
from strongroom.accounts.notices import Notices
from strongroom.accounts.passwords import PasswordService
from strongroom.accounts.registration import RegistrationService
from strongroom.accounts.service import AccountService
from strongroom.audit.listing import AuditListing
from strongroom.audit.retention import AuditRetention
from strongroom.audit.service import AuditService
from strongroom.audit.verifier import AuditVerifier
from strongroom.authorizations.key_file import KeyFile, create_key_file
from strongroom.authorizations.keys import KeyRingError
from strongroom.authorizations.login import LoginService, LoginServices
from strongroom.authorizations.minting import TokenMint
from strongroom.authorizations.proofs import CoreProofs
from strongroom.authorizations.refresh import RefreshTokens
from strongroom.authorizations.service import AuthorizationService
from strongroom.authorizations.sessions import Sessions
from strongroom.authorizations.throttle import LoginThrottle
from strongroom.authorizations.tokens import TokenSigner
from strongroom.clock import Clock, SystemClock
from strongroom.config import Configuration, Settings
from strongroom.credentials.passwords import PasswordHasher
from strongroom.credentials.service import CredentialService
from strongroom.database import Database
from strongroom.files.access import AccessControl
from strongroom.files.listing import FileListing
from strongroom.files.service import FileService
from strongroom.files.tree import Tree
from strongroom.limits.rates import RateLimits, redis_storage
from strongroom.limits.service import Counters
from strongroom.limits.storage import DatabaseStorage
from strongroom.messages.service import MessageService
from strongroom.plugin_api.storage import StorageBackend, StorageError
from strongroom.production import refuse_unsafe
from strongroom.secret_keys import SecretKeys, load_or_create_secret
from strongroom.selection import Selection, select
from strongroom.storage.service import BlobService
from strongroom.tenants.memberships import Memberships
from strongroom.tenants.service import TenantService
from strongroom.users.service import UserService
from strongroom.verification.captchas import CaptchaService
from strongroom.verification.codes import CodeService
from strongroom.verification.sending import CodeSending


@dataclass(frozen=True, slots=True)
class Container:
    """The services of one process, and what must be closed with them."""

    settings: Settings
    selection: Selection
    database: Database
    storages: Mapping[str, StorageBackend[Any]]
    users: UserService
    registration: RegistrationService
    accounts: AccountService
    bindings: BindingService
    passwords: PasswordService
    rates: RateLimits
    messages: MessageService
    captchas: CaptchaService
    code_sending: CodeSending
    logins: LoginService
    authorizations: AuthorizationService
    tenants: TenantService
    blobs: BlobService
    files: FileService
    listing: FileListing
    audit_listing: AuditListing
    audit_retention: AuditRetention
    audit_verifier: AuditVerifier
    resources: ExitStack

    def close(self) -> None:
        """Close connections and extensions."""
        self.resources.close()


def build(configuration: Configuration, clock: Clock | None = None) -> Container:
    """Make the services of a process.

    Raises:
        ConfigurationError: the configuration cannot be served.
    """
    selection = select(configuration)
    refuse_unsafe(configuration, selection)
    with ExitStack() as resources:
        container = _Builder(configuration, selection, clock or SystemClock(), resources).build()
        resources.pop_all()
        return container


class _Builder:
    """Puts the services together, from those that need nothing to those that need many."""

    def __init__(
        self, configuration: Configuration, selection: Selection, clock: Clock, resources: ExitStack
    ) -> None:
        self._configuration = configuration
        self._settings = configuration.settings
        self._selection = selection
        self._clock = clock
        self._resources = ExitStack()
        resources.push(self._resources)
        self._data_dir = self._settings.server.data_dir.absolute()
        self._make_data_dir()
        self._keys = self._secret_keys()
        self._database = self._open_database()
        self._audit = AuditService(clock)
        self._users = UserService(clock)
        self._counters = Counters(clock, self._keys)

    def build(self) -> Container:
        credentials = self._credentials()
        captchas = self._captchas()
        codes = CodeService(self._database, self._clock, self._keys, self._counters)
        rates = self._rates()
        messages = self._messages()
        notices = Notices(credentials, messages)
        mint, authorizations = self._authorizations()
        memberships = Memberships(self._clock)
        access = AccessControl(self._clock, memberships)
        tenants = self._tenants(memberships)
        storages = self._storages()
        blobs = BlobService(self._database, self._clock, storages, self._settings.files.storage)
        return Container(
            settings=self._settings,
            selection=self._selection,
            database=self._database,
            storages=storages,
            users=self._users,
            registration=RegistrationService(
                self._database, self._users, credentials, codes, self._audit
            ),
            accounts=AccountService(self._database, self._users, authorizations, notices, self._audit),
            bindings=BindingService(self._database, credentials, codes, notices, self._audit),
            passwords=PasswordService(
                self._database, credentials, codes, authorizations, notices, self._audit
            ),
            rates=rates,
            messages=messages,
            captchas=captchas,
            code_sending=CodeSending(
                self._database, captchas, rates, self._settings.limits, codes, credentials, messages
            ),
            logins=self._logins(credentials, captchas, codes, rates, mint),
            authorizations=authorizations,
            tenants=tenants,
            blobs=blobs,
            files=FileService(
                self._database,
                access,
                Tree(self._clock),
                blobs,
                tenants,
                max_file_bytes=self._settings.files.max_file_bytes,
            ),
            listing=FileListing(self._database, access, self._users),
            audit_listing=AuditListing(self._database, self._users),
            audit_retention=AuditRetention(
                self._database, self._clock, self._audit, self._settings.audit.retention_days
            ),
            audit_verifier=AuditVerifier(self._database),
            resources=self._resources,
        )

    def _make_data_dir(self) -> None:
        try:
            self._data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            self._refuse(("server", "data_dir"), f"cannot be made: {error.strerror}")

    def _open_database(self) -> Database:
        try:
            database = Database(self._settings.database_url, pool_size=self._settings.server.threads)
        except (ValueError, ArgumentError, NoSuchModuleError) as error:
            self._refuse(("database", "url"), f"cannot be opened: {error}")
            raise
        self._resources.callback(database.close)
        return database

    def _secret_keys(self) -> SecretKeys:
        secret = self._settings.server.secret_key
        try:
            return SecretKeys(secret or load_or_create_secret(self._data_dir / "secret.key"))
        except ValueError as error:
            self._refuse(("server", "secret_key"), str(error))
            raise

    def _credentials(self) -> CredentialService:
        passwords = self._settings.passwords
        hasher = PasswordHasher(
            self._keys.derive("passwords"),
            cost=passwords.bcrypt_cost,
            in_flight=passwords.hashes_in_flight,
        )
        return CredentialService(
            self._database, self._clock, hasher, self._settings.login.default_region
        )

    def _captchas(self) -> CaptchaService:
        provider = self._selection.captcha.make()
        self._resources.callback(provider.close)
        lifetime = self._settings.captcha.lifetime_seconds * 1000
        return CaptchaService(self._database, self._clock, self._keys, provider, lifetime)

    def _rates(self) -> RateLimits:
        url = self._settings.redis.url
        storage = redis_storage(url) if url else DatabaseStorage(self._database, self._clock)
        return RateLimits(storage, self._keys, self._clock)

    def _messages(self) -> MessageService:
        senders = {
            channel: [choice.make() for choice in choices]
            for channel, choices in self._selection.senders.items()
        }
        for channel_senders in senders.values():
            for sender in channel_senders:
                self._resources.callback(sender.close)
        service = MessageService(self._database, self._clock, senders)
        self._resources.callback(service.close)
        return service

    def _tenants(self, memberships: Memberships) -> TenantService:
        return TenantService(
            self._database,
            self._clock,
            memberships,
            self._users,
            self._audit,
            any_user_creates=self._settings.files.user_tenants,
        )

    def _authorizations(self) -> tuple[TokenMint, AuthorizationService]:
        tokens = self._settings.tokens
        signer = self._signer()
        lifetime = tokens.refresh_lifetime_seconds * 1000
        refresh_tokens = RefreshTokens(self._clock, self._keys, lifetime=lifetime)
        sessions = Sessions(self._clock, lifetime=max(lifetime, signer.lifetime))
        mint = TokenMint(sessions, signer, refresh_tokens, self._users)
        return mint, AuthorizationService(
            self._database, sessions, signer, refresh_tokens, mint, self._users, self._audit
        )

    def _logins(
        self,
        credentials: CredentialService,
        captchas: CaptchaService,
        codes: CodeService,
        rates: RateLimits,
        mint: TokenMint,
    ) -> LoginService:
        limits = self._settings.limits
        throttle = LoginThrottle(
            self._database,
            self._counters,
            free_failures=limits.login_failures_before_captcha,
            lifetime=limits.login_failures_seconds * 1000,
        )
        proofs = CoreProofs(credentials, codes)
        methods = [choice.make(proofs) for choice in self._selection.login_methods]
        for method in methods:
            self._resources.callback(method.close)
        services = LoginServices(
            self._users, credentials, captchas, throttle, rates, limits, self._audit
        )
        return LoginService(self._database, self._clock, mint, methods, services)

    def _signer(self) -> TokenSigner:
        return TokenSigner(
            self._key_file(),
            issuer=self._settings.public_root + self._settings.server.base_path,
            lifetime=self._settings.tokens.lifetime_seconds * 1000,
            clock=self._clock,
        )

    def _key_file(self) -> KeyFile:
        tokens, path = self._settings.tokens, self._settings.keys_path
        try:
            if tokens.keys_file is None:
                create_key_file(path, tokens.algorithm, self._clock.now())
            return KeyFile(path, tokens.algorithm)
        except KeyRingError as error:
            self._refuse(("tokens", "keys_file"), str(error))
            raise

    def _storages(self) -> dict[str, StorageBackend[Any]]:
        storages = {}
        for name, choice in self._selection.storages.items():
            try:
                storages[name] = choice.make()
            except StorageError as error:
                self._refuse(("storages", name), f"cannot be opened: {error}")
            self._resources.callback(storages[name].close)
        return storages

    def _refuse(self, path: tuple[str, ...], message: str) -> None:
        self._configuration.blame(path, message)
        self._configuration.refuse_problems()
