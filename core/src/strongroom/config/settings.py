"""Every key of the configuration that the core itself reads, with its type, default and meaning.

Keys that belong to an extension (a storage backend, a login method, a captcha provider, a message
sender) are declared by that extension and stand in a table named after it.
"""

import re
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path

from strongroom.config.business_files import BusinessFilesSettings
from strongroom.config.rates import Rate, rates
from strongroom.plugin_api import option

MEBIBYTE = 1024 * 1024
GIBIBYTE = 1024 * MEBIBYTE


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The process: where it listens, what it believes of its clients, where it keeps its own things."""

    mode: str = option(
        "development",
        choices=("development", "production"),
        help="What the server is for; production refuses whatever is only safe on one's own machine.",
    )
    host: str = option("127.0.0.1", help="The address to listen on.")
    port: int = option(8000, minimum=0, maximum=65535, help="The port to listen on.")
    workers: int = option(2, minimum=1, maximum=256, help="The number of server processes.")
    threads: int = option(
        64,
        minimum=1,
        maximum=512,
        help="Requests a process works on at once; a slow upload holds one of them.",
    )
    public_url: str = option(
        "", help="The URL clients reach the server by, without base_path; empty: http://host:port."
    )
    base_path: str = option("", help='A path before every route, such as "/identity"; empty: none.')
    data_dir: Path = option(
        Path("strongroom-data"), help="The folder of what the server generates by itself."
    )
    secret_key: str | None = option(
        None,
        secret=True,
        help="At least 32 characters from which the keys of codes, captchas and password hashes are "
        "derived; once in use it must never change. Absent: generated in data_dir, in development.",
    )
    trusted_proxies: tuple[str, ...] = option(
        (), help="Networks (CIDR) of the proxies whose X-Forwarded-For is believed."
    )

    def __post_init__(self) -> None:
        for text in self.trusted_proxies:
            _require_network(text)
        if self.base_path and not re.fullmatch(r"(/[a-z0-9-]+)+", self.base_path):
            raise ValueError('base_path: must be like "/identity": lowercase letters, digits, hyphens')
        if self.public_url and not re.fullmatch(r"https?://[^/?#@]+/?", self.public_url):
            raise ValueError('public_url: must be like "https://example.com", without a path')


def _require_network(text: str) -> None:
    try:
        ip_network(text)
    except ValueError as error:
        raise ValueError(f"trusted_proxies: {error}") from error


@dataclass(frozen=True, slots=True)
class ManagementSettings:
    """The address for operators: metrics and the state of the server, apart from what clients reach."""

    host: str = option("127.0.0.1", help="The address to listen on; let nobody but operators reach it.")
    port: int = option(0, minimum=0, maximum=65535, help="The port to listen on; 0: none is opened.")


@dataclass(frozen=True, slots=True)
class LoggingSettings:
    """What the server says on standard error."""

    format: str = option("text", choices=("text", "json"), help="Lines for people, or JSON, one a line.")
    level: str = option(
        "warning", choices=("debug", "info", "warning", "error"), help="The least that is worth a line."
    )
    requests: bool = option(
        False,
        help="Whether each request is a line, with its route and never its path, whatever the level.",
    )


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """Where rows are kept."""

    url: str = option(
        "", secret=True, help="sqlite:///FILE or postgresql+psycopg://...; empty: SQLite in data_dir."
    )
    pool_size: int = option(
        16,
        minimum=1,
        maximum=512,
        help="Connections that a process keeps open; under load it opens as many more, and half as "
        "many for hot reads.",
    )

    def __post_init__(self) -> None:
        if self.url and not self.url.startswith(("sqlite:///", "postgresql+psycopg://")):
            raise ValueError("url: must begin with sqlite:/// or postgresql+psycopg://")


@dataclass(frozen=True, slots=True)
class RedisSettings:
    """Redis, for limits that several machines share."""

    url: str = option("", secret=True, help="redis://... or rediss://...; empty: none.")

    def __post_init__(self) -> None:
        if self.url and not self.url.startswith(("redis://", "rediss://")):
            raise ValueError("url: must begin with redis:// or rediss://")


@dataclass(frozen=True, slots=True)
class PluginsSettings:
    """Which installed plugins take part."""

    enabled: tuple[str, ...] = option(
        ("storage_local", "login_sms"), help="The entry-point names of the plugins in use."
    )


@dataclass(frozen=True, slots=True)
class StorageSettings:
    """A named storage; the other keys of the section are the options of its back end."""

    backend: str = option(help="The name of a registered storage backend, such as local or s3.")
    downloads: str = option(
        "server",
        choices=("server", "redirect", "x_accel"),
        help="Who gives files out: the server; the store itself, by a redirect to a signed URL; or the "
        "nginx in front, by X-Accel-Redirect.",
    )
    x_accel_location: str = option(
        "/_strongroom", help="What nginx's internal locations begin with, before the path of the file."
    )
    direct_uploads: bool = option(
        False, help="Whether clients may send files to the store itself, by signed requests."
    )
    signed_url_seconds: int = option(
        300,
        minimum=10,
        maximum=12 * 3600,
        help="How long the URLs of redirects and direct uploads hold.",
    )


@dataclass(frozen=True, slots=True)
class FilesSettings:
    """What may be uploaded, and where it goes."""

    storage: str = option("main", help="The named storage that new bytes go to.")
    max_file_bytes: int = option(
        64 * GIBIBYTE, minimum=1, help="The largest file, in bytes, that a tenant's space accepts."
    )
    allowed_types: tuple[str, ...] = option(
        (),
        help='Media types that a tenant\'s space accepts, such as "image/png" or "image/*"; empty: all.',
    )
    default_quota_bytes: int = option(
        0, minimum=0, help="Bytes that a tenant without a quota of its own may use; 0: any number."
    )
    bundle_lifetime_seconds: int = option(
        86_400,
        minimum=60,
        maximum=2_592_000,
        help="How long a bundle that broke off can be resumed by its own URL.",
    )
    upload_lifetime_seconds: int = option(
        86_400,
        minimum=60,
        maximum=31_536_000,
        help="How long a resumable upload that makes no progress is kept.",
    )
    user_tenants: bool = option(
        True, help="Whether any user may create a tenant, or administrators only."
    )


@dataclass(frozen=True, slots=True)
class LoginSettings:
    """How clients prove who they are; options of a method stand in ``[login.METHOD]``."""

    methods: tuple[str, ...] = option(
        ("password", "sms"),
        help="The login methods in use, in the order they are asked; the default is without sms if "
        "login_sms is not enabled.",
    )
    default_region: str = option(
        "CN", help="The ISO 3166 code of the region whose mobile numbers need no country code."
    )


@dataclass(frozen=True, slots=True)
class CaptchaSettings:
    """The puzzle; the other keys of the section are the options of its provider."""

    provider: str = option("image", help="The name of a registered captcha provider.")
    lifetime_seconds: int = option(
        300, minimum=10, maximum=3600, help="How long a puzzle can be answered."
    )


@dataclass(frozen=True, slots=True)
class MessagesSettings:
    """How people are reached; options of a sender stand in ``[messages.SENDER]``."""

    email: tuple[str, ...] = option(("console",), help="The senders of e-mail, tried in this order.")
    sms: tuple[str, ...] = option(("console",), help="The senders of SMS, tried in this order.")
    language: str = option(
        "en",
        choices=("en", "zh"),
        help="The language of messages to whoever does not say, by Accept-Language, to read another.",
    )
    retention_days: int = option(
        90,
        minimum=0,
        maximum=36_500,
        help="How long `housekeeping` leaves the record of a message alone; 0: for ever.",
    )
    templates: Path | None = option(
        None,
        help="A folder of LANGUAGE/OCCASION.txt, texts in the place of those that ship. Absent: none.",
    )


@dataclass(frozen=True, slots=True)
class PasswordsSettings:
    """How passwords are kept."""

    bcrypt_cost: int = option(
        12,
        minimum=4,
        maximum=18,
        help="The logarithm of bcrypt's rounds. Raise it at will; once lowered, the time of a failed "
        "login tells of accounts that have not been used since.",
    )
    hashes_in_flight: int = option(
        0, minimum=0, maximum=64, help="Hashes a process computes at once; 0: one for each two cores."
    )


@dataclass(frozen=True, slots=True)
class TokensSettings:
    """The access tokens and refresh tokens."""

    algorithm: str = option("HS256", choices=("HS256", "RS256"), help="The signature of access tokens.")
    lifetime_seconds: int = option(
        1800, minimum=1, maximum=31_536_000, help="How long an access token is good for."
    )
    refresh_lifetime_seconds: int = option(
        2_592_000,
        minimum=1,
        maximum=31_536_000,
        help="How long a refresh token is good for: a login that is not used for so long ends.",
    )
    keys_file: Path | None = option(
        None,
        help="A private JWK Set (RFC 7517); its first key signs, all verify. Absent: generated in "
        "data_dir, in development.",
    )


@dataclass(frozen=True, slots=True)
class LimitsSettings:
    """How often; each list holds rates such as "5/hour", all of which apply."""

    login_failures_before_captcha: int = option(
        3,
        minimum=0,
        maximum=1000,
        help="Failed logins by one name, or from one address, that go without.",
    )
    login_failures_seconds: int = option(
        3600, minimum=1, maximum=2_592_000, help="How long a failed login counts after the last one."
    )
    code_per_device: tuple[Rate, ...] = option(
        rates("1/minute"), help="Verification codes sent at the wish of one device."
    )
    code_per_recipient: tuple[Rate, ...] = option(
        rates("1/minute", "5/hour", "10/day"), help="Verification codes sent to one recipient."
    )
    code_per_address: tuple[Rate, ...] = option(
        rates("30/hour", "200/day"), help="Verification codes sent at the wish of one address."
    )
    login_per_address: tuple[Rate, ...] = option(
        rates("600/hour"), help="Login attempts from one address."
    )
    available_per_address: tuple[Rate, ...] = option(
        rates("60/hour"), help="Questions whether a credential is free; past it a captcha is asked."
    )


@dataclass(frozen=True, slots=True)
class AuditSettings:
    """The record of what happened."""

    retention_days: int = option(
        0,
        minimum=0,
        maximum=36_500,
        help="How long `audit prune` and `housekeeping` leave a record alone; 0: for ever.",
    )


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration, but for the options of extensions."""

    server: ServerSettings = option(default_factory=ServerSettings, help="The process.")
    management: ManagementSettings = option(
        default_factory=ManagementSettings, help="The operators' address."
    )
    logging: LoggingSettings = option(default_factory=LoggingSettings, help="The log.")
    database: DatabaseSettings = option(default_factory=DatabaseSettings, help="The database.")
    redis: RedisSettings = option(default_factory=RedisSettings, help="Redis.")
    plugins: PluginsSettings = option(default_factory=PluginsSettings, help="The plugins in use.")
    storages: dict[str, StorageSettings] = option(default_factory=dict, help="The named storages.")
    files: FilesSettings = option(default_factory=FilesSettings, help="Files.")
    business_files: BusinessFilesSettings = option(
        default_factory=BusinessFilesSettings, help="Business files."
    )
    login: LoginSettings = option(default_factory=LoginSettings, help="Login.")
    captcha: CaptchaSettings = option(default_factory=CaptchaSettings, help="Captchas.")
    messages: MessagesSettings = option(default_factory=MessagesSettings, help="Messages.")
    passwords: PasswordsSettings = option(default_factory=PasswordsSettings, help="Passwords.")
    tokens: TokensSettings = option(default_factory=TokensSettings, help="Tokens.")
    limits: LimitsSettings = option(default_factory=LimitsSettings, help="Limits.")
    audit: AuditSettings = option(default_factory=AuditSettings, help="The audit events.")

    @property
    def is_production(self) -> bool:
        """Whether the server is for others than its developer."""
        return self.server.mode == "production"

    @property
    def database_url(self) -> str:
        """The URL of the database, the default filled in."""
        return self.database.url or f"sqlite:///{self.server.data_dir.absolute() / 'strongroom.sqlite3'}"

    @property
    def secret_path(self) -> Path:
        """The file of the secret, where the configuration does not give it."""
        return self.server.data_dir.absolute() / "secret.key"

    @property
    def keys_path(self) -> Path:
        """The file of the keys that sign access tokens, the default filled in."""
        return self.tokens.keys_file or self.server.data_dir.absolute() / "signing-keys.json"

    @property
    def public_root(self) -> str:
        """The scheme, host and port that clients reach the server by, without a slash at the end."""
        server = self.server
        host = f"[{server.host}]" if ":" in server.host else server.host
        return server.public_url.rstrip("/") or f"http://{host}:{server.port}"
