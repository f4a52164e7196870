"""URLs of Redis and Valkey: one server, a socket, Sentinels or a cluster."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Self
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from strongroom.foundation.config.database_urls import INVALID_HOST
from strongroom.foundation.config.sources import suggestion


class RedisKind(StrEnum):
    """How the primary is found."""

    SERVER = ""
    SOCKET = "unix"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"

    @property
    def is_replicated(self) -> bool:
        """Whether another server takes over, so that counts must be on replicas."""
        return self in {RedisKind.SENTINEL, RedisKind.CLUSTER}


_PORT: Final = 6379
_SENTINEL_PORT: Final = 26379
_MAX_PORT: Final = 65535
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s:\[\]]+)(?::([0-9]{1,5}))?")
_SCHEME = re.compile(r"(?:redis|valkey)(s?)(?:\+(sentinel|cluster))?")
_SCHEMES: Final = "redis://, rediss://, unix://, redis+sentinel:// or redis+cluster://"

_TLS_FILES: Final = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_TLS_OPTIONS: Final = (*_TLS_FILES, "ssl_check_hostname")
_SENTINEL_OPTIONS: Final = ("sentinel_username", "sentinel_password")
_BOOLEANS: Final = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class RedisAddress:
    """Where Redis is, and how to log in.

    Args:
        hosts: the server, the Sentinels, or some nodes of the cluster.
        replicas: how many replicas must acknowledge a count.
        tls: the options for TLS of redis-py; ``None`` without TLS.
    """

    kind: RedisKind
    hosts: tuple[tuple[str, int], ...] = ()
    path: str = ""
    service: str = ""
    database: int = 0
    login: Mapping[str, str] = field(default_factory=dict, repr=False)
    sentinel_login: Mapping[str, str] = field(default_factory=dict, repr=False)
    tls: Mapping[str, Any] | None = None
    replicas: int = 0

    @classmethod
    def parse(cls, url: str) -> Self:
        """Parse a URL.

        Raises:
            ValueError: a part is missing, misspelt or invalid; the text quotes no password.
        """
        parts = urlsplit(url)
        kind, is_tls = _parse_scheme(parts.scheme, url)
        options = _parse_options(parts, kind, is_tls=is_tls)
        userinfo, _, hosts = parts.netloc.rpartition("@")
        service, database = _parse_path(parts, kind)
        return cls(
            kind,
            _parse_hosts(hosts, kind) if kind is not RedisKind.SOCKET else (),
            unquote(parts.path) if kind is RedisKind.SOCKET else "",
            service,
            _parse_number("db", options["db"]) if "db" in options else database,
            _parse_login(userinfo),
            {name[9:]: options[name] for name in _SENTINEL_OPTIONS if name in options},
            _parse_tls(options) if is_tls else None,
            _parse_number("replicas", options.get("replicas", str(int(kind.is_replicated)))),
        )

    def __str__(self) -> str:
        """Return the place without the login, for messages."""
        if self.kind is RedisKind.SOCKET:
            return self.path
        hosts = [(f"[{host}]" if ":" in host else host, port) for host, port in self.hosts]
        return ", ".join(f"{host}:{port}" for host, port in hosts)


def _parse_scheme(scheme: str, url: str) -> tuple[RedisKind, bool]:
    if scheme == "unix":
        return RedisKind.SOCKET, False
    match = _SCHEME.fullmatch(scheme)
    if match is None or not url.lower().startswith(f"{scheme}://"):
        raise ValueError(f"must begin with {_SCHEMES}, or with valkey instead of redis")
    return RedisKind(match[2] or ""), bool(match[1])


def _parse_options(parts: SplitResult, kind: RedisKind, *, is_tls: bool) -> dict[str, str]:
    # A password with a bare # or ? ends up there, and must not be quoted.
    if parts.fragment or "@" in parts.query:
        raise ValueError(INVALID_HOST)
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    names = _known_options(kind)
    for name, value in pairs:
        if name not in names:
            raise ValueError(f'unknown option "{name}"; {suggestion(name, names)}')
        if not value:
            raise ValueError(f"{name} is empty; write ?{name}=VALUE")
        if name in _TLS_OPTIONS and not is_tls:
            raise ValueError(f"{name} needs TLS; write {_with_tls(parts.scheme)}://")
    options = dict(pairs)
    if len(options) < len(pairs):
        raise ValueError("names an option twice")
    return options


def _known_options(kind: RedisKind) -> tuple[str, ...]:
    numbers = ("replicas",) if kind is RedisKind.CLUSTER else ("db", "replicas")
    if kind is RedisKind.SOCKET:
        return numbers
    return (*numbers, *_TLS_OPTIONS, *(_SENTINEL_OPTIONS if kind is RedisKind.SENTINEL else ()))


def _with_tls(scheme: str) -> str:
    name, plus, kind = scheme.partition("+")
    return f"{name}s{plus}{kind}"


def _parse_login(userinfo: str) -> dict[str, str]:
    username, _, password = userinfo.partition(":")
    login = {"username": unquote(username), "password": unquote(password)}
    return {name: value for name, value in login.items() if value}


def _parse_hosts(text: str, kind: RedisKind) -> tuple[tuple[str, int], ...]:
    if kind is RedisKind.SERVER and "," in text:
        raise ValueError("has several hosts; write redis+sentinel:// or redis+cluster://")
    default = _SENTINEL_PORT if kind is RedisKind.SENTINEL else _PORT
    return tuple(_parse_host(host, default) for host in text.split(","))


def _parse_host(text: str, default: int) -> tuple[str, int]:
    match = _HOST.fullmatch(text)
    port = int(match[2] or default) if match else 0
    if match is None or not 0 < port <= _MAX_PORT:
        raise ValueError(INVALID_HOST)
    return match[1].strip("[]"), port


def _parse_path(parts: SplitResult, kind: RedisKind) -> tuple[str, int]:
    """Return the name of the service, for Sentinels only, and the number of the database."""
    path = parts.path
    if kind is RedisKind.SOCKET:
        if len(path) < 2 or parts.netloc.rpartition("@")[2]:  # noqa: PLR2004  a slash and a name
            raise ValueError("names no socket; write unix:///PATH?db=0")
        return "", 0
    service = ""
    if kind is RedisKind.SENTINEL:
        service, slash, number = path.removeprefix("/").partition("/")
        if not service:
            raise ValueError("names no service; write it after the Sentinels: /SERVICE/0")
        path = slash + number
    if not re.fullmatch(r"/?\d*", path):
        raise ValueError("must end with the number of a database, such as /0")
    number = path.strip("/")
    if kind is RedisKind.CLUSTER and number.strip("0"):
        raise ValueError("must end with /0 or nothing: a cluster has one database")
    return unquote(service), int(number or 0)


def _parse_number(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,5}", text):
        raise ValueError(f"{name} must be a number, such as {name}=1")
    return int(text)


def _parse_tls(options: Mapping[str, str]) -> dict[str, Any]:
    tls: dict[str, Any] = {name: options[name] for name in _TLS_FILES if name in options}
    if ("ssl_certfile" in tls) != ("ssl_keyfile" in tls):
        raise ValueError("ssl_certfile and ssl_keyfile need each other")
    check = options.get("ssl_check_hostname", "true")
    if check not in _BOOLEANS:
        raise ValueError("ssl_check_hostname must be true or false")
    return {**tls, "ssl_check_hostname": _BOOLEANS[check]}
