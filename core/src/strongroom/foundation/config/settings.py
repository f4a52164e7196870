"""The root of the core's configuration; the modules of the sections declare the keys.

Keys of an extension (a storage backend, a key provider, a login method, a captcha provider, a message
sender) are declared by that extension, in a table named after it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strongroom.foundation.config.accounts import (
    AccessKeysSettings,
    AuditSettings,
    CaptchaSettings,
    LoginSettings,
    MessagesSettings,
    PasswordsSettings,
    SecondFactorsSettings,
    TokensSettings,
    UsersSettings,
)
from strongroom.foundation.config.advanced import AdvancedSettings
from strongroom.foundation.config.database_urls import with_host_parameters
from strongroom.foundation.config.file_settings import (
    BusinessFilesSettings,
    EventsSettings,
    FilesSettings,
    KeysSettings,
    ScanningSettings,
    StorageSettings,
    TenantsSettings,
)
from strongroom.foundation.config.limits import LimitsSettings
from strongroom.foundation.config.page_settings import PagesSettings
from strongroom.foundation.config.server_settings import (
    DatabaseSettings,
    LoggingSettings,
    ManagementSettings,
    PluginsSettings,
    RedisSettings,
    ServerSettings,
    TracingSettings,
)
from strongroom.plugin_api import option

_LOOPBACK: Final = ("127.0.0.1", "::1")
_DRAIN_SECONDS: Final = 5


@dataclass(frozen=True, slots=True)
class Settings:
    """The configuration of the core, without the options of extensions."""

    server: ServerSettings = option(default_factory=ServerSettings, help="The process.")
    management: ManagementSettings = option(
        default_factory=ManagementSettings, help="The management interface."
    )
    logging: LoggingSettings = option(default_factory=LoggingSettings, help="The log.")
    tracing: TracingSettings = option(default_factory=TracingSettings, help="Traces.")
    database: DatabaseSettings = option(default_factory=DatabaseSettings, help="The database.")
    redis: RedisSettings = option(default_factory=RedisSettings, help="Redis.")
    plugins: PluginsSettings = option(default_factory=PluginsSettings, help="The plugins in use.")
    storages: dict[str, StorageSettings] = option(default_factory=dict, help="The named storages.")
    keys: KeysSettings = option(default_factory=KeysSettings, help="Master keys.")
    tenants: TenantsSettings = option(default_factory=TenantsSettings, help="Tenants.")
    events: EventsSettings = option(default_factory=EventsSettings, help="Events.")
    files: FilesSettings = option(default_factory=FilesSettings, help="Files.")
    business_files: BusinessFilesSettings = option(
        default_factory=BusinessFilesSettings, help="Business files."
    )
    scanning: ScanningSettings = option(
        default_factory=ScanningSettings, help="The inspection of uploaded content."
    )
    users: UsersSettings = option(default_factory=UsersSettings, help="Users.")
    login: LoginSettings = option(default_factory=LoginSettings, help="Login.")
    second_factors: SecondFactorsSettings = option(
        default_factory=SecondFactorsSettings, help="Second factors."
    )
    captcha: CaptchaSettings = option(default_factory=CaptchaSettings, help="Captchas.")
    messages: MessagesSettings = option(default_factory=MessagesSettings, help="Messages.")
    pages: PagesSettings = option(default_factory=PagesSettings, help="The brand in pages and mails.")
    passwords: PasswordsSettings = option(default_factory=PasswordsSettings, help="Passwords.")
    tokens: TokensSettings = option(default_factory=TokensSettings, help="Tokens.")
    access_keys: AccessKeysSettings = option(default_factory=AccessKeysSettings, help="Access keys.")
    limits: LimitsSettings = option(default_factory=LimitsSettings, help="Limits.")
    audit: AuditSettings = option(default_factory=AuditSettings, help="The audit events.")
    advanced: AdvancedSettings = option(default_factory=AdvancedSettings, help="Limits of resources.")

    @property
    def is_production(self) -> bool:
        """Whether the server runs in production mode."""
        return self.server.mode == "production"

    @property
    def serves_api_docs(self) -> bool:
        """Whether the interactive API documentation is served."""
        stated = self.server.api_docs
        return not self.is_production if stated is None else stated

    @property
    def drain_seconds(self) -> int:
        """Seconds for which the server keeps serving after SIGTERM, with the default resolved."""
        given = self.server.drain_seconds
        return (_DRAIN_SECONDS if self.is_production else 0) if given is None else given

    @property
    def database_url(self) -> str:
        """The URL of the database, with the default resolved."""
        if self.database.url:
            return with_host_parameters(self.database.url)
        return f"sqlite:///{self.server.data_dir.absolute() / 'strongroom.sqlite3'}"

    @property
    def secret_path(self) -> Path:
        """The file of the generated secret key, used if ``server.secret_key`` is not set."""
        return self.server.data_dir.absolute() / "secret.key"

    @property
    def keys_path(self) -> Path:
        """The file of the keys that sign access tokens, with the default resolved."""
        return self.tokens.keys_file or self.server.data_dir.absolute() / "signing-keys.json"

    @property
    def public_root(self) -> str:
        """The public scheme, host and port of the server, without a trailing slash.

        By default, a server that listens on this machine only is ``localhost``, because browsers have
        passkeys on that name and on no IP address (WebAuthn, section 5.1.3).
        """
        if not self.server.public_url and self.server.host in _LOOPBACK:
            return f"http://localhost:{self.server.port}"
        return self.server.public_url.rstrip("/") or self.listening_root

    @property
    def listening_root(self) -> str:
        """The scheme, host and port that the server listens on, without a trailing slash."""
        host = f"[{self.server.host}]" if ":" in self.server.host else self.server.host
        return f"http://{host}:{self.server.port}"
