"""The keys of a process: what it serves, what it stands on, and what it says."""

import re
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path

from strongroom.addresses import parse_network
from strongroom.plugin_api import option


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
        help="Requests a process works on at once. Uploads and downloads leave 8 of them free for short "
        "requests, or half if there are fewer than 16.",
    )
    transfer_grace_seconds: float = option(
        10.0,
        minimum=0.1,
        maximum=600,
        help="How long a client may pause while it sends a request or reads a response.",
    )
    min_transfer_rate: int = option(
        1024,
        minimum=1,
        help="Bytes a second that a client must send or read beyond the grace period; slower clients "
        "are disconnected.",
    )
    http2: bool = option(
        False,
        help="Whether HTTP/2 without TLS is served, for a proxy that uses it; clients use HTTP/1.1.",
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
    drain_seconds: int | None = option(
        None,
        minimum=0,
        maximum=600,
        help="After SIGTERM or strongroom drain: seconds in which readyz answers 503 and all else is "
        "served, so that balancers notice. Absent: 5 in production, 0 in development.",
    )
    trusted_proxies: tuple[str, ...] = option(
        (), help="Networks (CIDR) of the proxies whose X-Forwarded-For is believed."
    )

    cors_origins: tuple[str, ...] = option(
        (),
        help='Origins whose scripts may call the API from a browser, such as "https://app.example.com"; '
        '"*" allows every origin, in development.',
    )
    api_docs: bool | None = option(
        None, help="Whether the page /docs is served. Absent: in development only."
    )

    def __post_init__(self) -> None:
        for text in self.trusted_proxies:
            _require_network(text)
        for text in self.cors_origins:
            _require_origin(text)
        if self.base_path and not re.fullmatch(r"(/[a-z0-9-]+)+", self.base_path):
            raise ValueError('base_path: must be like "/identity": lowercase letters, digits, hyphens')
        if self.public_url and not re.fullmatch(r"https?://[^/?#@]+/?", self.public_url):
            raise ValueError('public_url: must be like "https://example.com", without a path')


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

    timeout_seconds: int = option(
        10,
        minimum=2,
        maximum=600,
        help="How long a request waits for PostgreSQL: for a connection, and for each statement. "
        "Then it is answered 503; commands are not bounded.",
    )

    @property
    def hot_connections(self) -> int:
        """Connections for hot reads, next to those of the pool."""
        return -(-self.pool_size // 2)

    @property
    def connections_per_process(self) -> int:
        """Connections that a process opens under load."""
        return 2 * self.pool_size + self.hot_connections

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
        ("storage_local", "login_sms"),
        help="The entry-point names of the plugins in use. The default is without those that are not "
        "installed.",
    )
