"""The keys of the server process, its log, the database, Redis and plugins."""

import re
from dataclasses import dataclass
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from strongroom.foundation.addresses import parse_network
from strongroom.foundation.config.database_urls import INVALID_HOST, with_host_parameters
from strongroom.foundation.config.redis_urls import RedisAddress
from strongroom.plugin_api import option


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The server process: network, workers, timeouts, proxies and data folder."""

    mode: str = option(
        "development",
        choices=("development", "production"),
        help="The mode; production refuses settings that are safe only on a developer's machine.",
    )
    host: str = option("127.0.0.1", help="The IP address to listen on.")
    port: int = option(8000, minimum=0, maximum=65535, help="The port to listen on.")
    workers: int = option(2, minimum=1, maximum=256, help="The number of worker processes.")
    threads: int = option(
        64,
        minimum=1,
        maximum=512,
        help="Requests that a worker handles concurrently. 8 threads, or half if there are fewer than "
        "16, are reserved for requests other than uploads and downloads.",
    )
    http2: bool = option(
        False,
        help="Whether to serve HTTP/2 without TLS, for proxies that use it; HTTP/1.1 is always served.",
        advanced=True,
    )
    public_url: str = option(
        "",
        help="The public URL of the server, without base_path; empty: http://host:port, or "
        "http://localhost:port if the server listens on this machine only.",
    )
    base_path: str = option("", help='The path prefix of every route, such as "/identity"; empty: none.')
    data_dir: Path = option(
        Path("strongroom-data"), help="The folder of generated files, such as keys and the database."
    )
    secret_key: str | None = option(
        None,
        secret=True,
        help="At least 32 characters, from which the keys of codes, captchas and password hashes are "
        "derived. It must never change once in use. Absent: generated in data_dir, in development only.",
    )
    drain_seconds: int | None = option(
        None,
        minimum=0,
        maximum=600,
        help="Seconds after SIGTERM or `strongroom drain` in which readyz returns 503 and other "
        "requests are served, so that load balancers react. Absent: 5 in production, 0 in development.",
    )
    trusted_proxies: tuple[str, ...] = option(
        (), help="Networks (CIDR) of the proxies whose X-Forwarded-For is trusted."
    )

    cors_origins: tuple[str, ...] = option(
        (),
        help='Origins whose scripts may call the API from a browser, such as "https://app.example.com"; '
        '"*" allows every origin, in development only.',
    )
    api_docs: bool | None = option(
        None, help="Whether to serve the API documentation at /docs. Absent: in development only."
    )

    def __post_init__(self) -> None:
        _require_address(self.host)
        for text in self.trusted_proxies:
            _require_network(text)
        for text in self.cors_origins:
            _require_origin(text)
        if self.base_path and not re.fullmatch(r"(/[a-z0-9-]+)+", self.base_path):
            raise ValueError('base_path: must be like "/identity": lowercase letters, digits, hyphens')
        if self.public_url and not _is_origin(self.public_url):
            raise ValueError('public_url: must be like "https://example.com", without a path')


def _require_address(text: str) -> None:
    try:
        ip_address(text)
    except ValueError as error:
        raise ValueError('host: must be an IP address, such as "127.0.0.1" or "0.0.0.0"') from error


def _is_origin(text: str) -> bool:
    try:
        urlsplit(text).port  # noqa: B018  raises an exception beyond 65535
    except ValueError:
        return False
    return re.fullmatch(r"https?://[^/?#@]+/?", text) is not None


def _require_network(text: str) -> None:
    try:
        parse_network(text)
    except ValueError as error:
        raise ValueError(f"trusted_proxies: {error}; {_network_meant(text)}") from error


def _network_meant(text: str) -> str:
    try:
        return f'did you mean "{ip_network(text, strict=False)}"?'
    except ValueError:
        return 'write a network as "10.0.0.0/8", or an address as "10.0.0.1"'


def _require_service(url: str) -> None:
    """Check the host and the port of a URL with a password, which no message may quote."""
    try:
        urlsplit(url).port  # noqa: B018  raises an exception for what is no port
    except ValueError as error:
        raise ValueError(f"url: {INVALID_HOST}") from error


def _require_origin(text: str) -> None:
    # A browser sends the scheme and host in lower case, without a default port and without a path.
    if text != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[^/?#@A-Z\s]+", text):
        raise ValueError(
            f'cors_origins: "{text}" must be like "https://app.example.com": lower case, no path'
        )
    if text.startswith("https://") and text.endswith(":443"):
        raise ValueError(f'cors_origins: "{text}": browsers leave out the default port 443')
    if text.startswith("http://") and text.endswith(":80"):
        raise ValueError(f'cors_origins: "{text}": browsers leave out the default port 80')


@dataclass(frozen=True, slots=True)
class ManagementSettings:
    """The management interface: metrics and health checks, on a separate port."""

    host: str = option("127.0.0.1", help="The address to listen on; only operators should reach it.")
    port: int = option(0, minimum=0, maximum=65535, help="The port to listen on; 0: disabled.")

    def __post_init__(self) -> None:
        _require_address(self.host)


@dataclass(frozen=True, slots=True)
class LoggingSettings:
    """The log on standard error."""

    format: str = option(
        "text", choices=("text", "json"), help="Plain text, or one JSON object per line."
    )
    level: str = option(
        "warning", choices=("debug", "info", "warning", "error"), help="The minimum level of log lines."
    )
    requests: bool = option(
        False,
        help="Whether to log each request, at any level, with its route but not its path.",
    )


@dataclass(frozen=True, slots=True)
class TracingSettings:
    """Traces of requests, exported by OpenTelemetry; needs strongroom[otlp]."""

    endpoint: str = option(
        "",
        help='The URL of the collector for OTLP over HTTP, such as "http://127.0.0.1:4318/v1/traces"; '
        "empty: no traces.",
    )
    authorization: str | None = option(
        None, secret=True, help="The header Authorization for the collector."
    )
    sample_ratio: float = option(
        0.05,
        minimum=0,
        maximum=1,
        help="The part of the requests that are traced. A trusted proxy decides for the requests that "
        "have a traceparent header.",
        advanced=True,
    )
    service_name: str = option("strongroom", help="The name of the server in traces.", advanced=True)

    def __post_init__(self) -> None:
        if self.endpoint and not re.fullmatch(r"https?://[^/?#@\s]+/\S*", self.endpoint):
            raise ValueError('endpoint: must be like "http://127.0.0.1:4318/v1/traces"')


_POSTGRESQL: Final = "postgresql+psycopg://"


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """The database."""

    url: str = option(
        "", secret=True, help="sqlite:///FILE or postgresql+psycopg://...; empty: SQLite in data_dir."
    )
    pool_size: int = option(
        16,
        minimum=1,
        maximum=512,
        help="Connections that a process keeps open. Under load it opens as many more, plus half as "
        "many for frequent reads.",
    )

    timeout_seconds: int = option(
        10,
        minimum=2,
        maximum=600,
        help="Seconds that a request waits for PostgreSQL: for a connection, and for each statement. "
        "Then the response is 503. Commands have no timeout.",
        advanced=True,
    )

    replica_url: str = option(
        "",
        secret=True,
        help="postgresql+psycopg://... of a streaming standby, which answers lists, searches and the "
        "export of users while it has all changes before them; empty: none.",
    )

    replica_wait_ms: int = option(
        50,
        minimum=0,
        maximum=5000,
        help="Milliseconds that a read waits for the standby to have the changes before it. Then the "
        "primary answers.",
        advanced=True,
    )

    replica_max_age: int = option(
        10,
        minimum=1,
        maximum=86400,
        help="Seconds that the standby may lag behind before it is reported, and no read waits for it.",
        advanced=True,
    )

    slow_query_ms: int = option(
        0,
        minimum=0,
        help="Statements that take at least as many milliseconds are logged by name, without their "
        "values; 0: none.",
        advanced=True,
    )

    @property
    def hot_connections(self) -> int:
        """Connections of the separate pool for frequent reads."""
        return -(-self.pool_size // 2)

    @property
    def connections_per_process(self) -> int:
        """Connections that a process opens under load."""
        return 2 * self.pool_size + self.hot_connections

    def __post_init__(self) -> None:
        if self.url and not self.url.startswith(("sqlite:///", _POSTGRESQL)):
            raise ValueError("url: must begin with sqlite:/// or postgresql+psycopg://")
        if self.url == "sqlite:///":
            raise ValueError("url: names no file; write it as sqlite:////FOLDER/FILE")
        if self.replica_url and not self.replica_url.startswith(_POSTGRESQL):
            raise ValueError(f"replica_url: must begin with {_POSTGRESQL}")
        if self.replica_url and not self.url.startswith(_POSTGRESQL):
            raise ValueError("replica_url: needs PostgreSQL in database.url")
        for name, url in (("url", self.url), ("replica_url", self.replica_url)):
            try:
                with_host_parameters(url)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error


@dataclass(frozen=True, slots=True)
class RedisSettings:
    """Redis, for rate limits that several machines share."""

    url: str = option(
        "",
        secret=True,
        help="redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://, or the same with "
        "valkey; empty: limits use the database.",
    )

    def __post_init__(self) -> None:
        if self.url:
            _parse_redis(self.url)

    @property
    def address(self) -> RedisAddress | None:
        """The parsed URL; ``None`` without Redis."""
        return RedisAddress.parse(self.url) if self.url else None


def _parse_redis(url: str) -> None:
    try:
        RedisAddress.parse(url)
    except ValueError as error:
        raise ValueError(f"url: {error}") from error


@dataclass(frozen=True, slots=True)
class PluginsSettings:
    """The enabled plugins."""

    enabled: tuple[str, ...] = option(
        (
            "storage_local",
            "login_sms",
            "login_email",
            "login_passkey",
            "factor_totp",
            "login_pages",
            "share_links",
            "console",
        ),
        help="The entry points of the enabled plugins. The default contains only installed plugins.",
    )
    folder: Path | None = option(
        None, help="A folder in which each file NAME.py is an enabled plugin. Absent: none."
    )
