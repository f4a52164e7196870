"""Why Redis cannot be used: its URL is wrong, or it is unavailable now."""

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from strongroom.cli.service_faults import ServiceFault
from strongroom.foundation.limits.backends import refusal_code, require_writes

if TYPE_CHECKING:
    from redis import RedisError

_PORT: Final = 6379
_SECONDS: Final = 2
_REFUSED_LOGIN: Final = ("WRONGPASS", "NOAUTH", "invalid username-password", "Authentication required")
_REMEDIES: Final = {
    "READONLY": "name the primary in redis.url",
    "OOM": "raise its maxmemory",
    "MISCONF": "see its log",
    "NOREPLICAS": "start its replicas",
}
_CONSEQUENCE: Final = "and without it logins are refused"


def redis_fault(url: str) -> ServiceFault | None:
    """Return why Redis cannot count rate limits, or ``None`` if it can; writes nothing."""
    from redis import Redis, RedisError

    try:
        with Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS) as client:
            client.ping()
            require_writes(client)
    except RedisError as error:
        return _fault(url, error)
    return None


def _fault(url: str, error: "RedisError") -> ServiceFault:
    from redis import AuthenticationError, ResponseError

    parts, reason = urlsplit(url), " ".join(str(error).split())
    where = f"Redis at {parts.hostname}:{parts.port or _PORT}"
    if (code := refusal_code(error)) in _REMEDIES:
        message = f"{where} refuses writes ({code}), {_CONSEQUENCE}; {_REMEDIES[code]}"
        return ServiceFault(message, True)
    if isinstance(error, AuthenticationError) or reason.startswith(_REFUSED_LOGIN):
        return ServiceFault(
            f"{where} refuses the login: {reason}, {_CONSEQUENCE}; correct the user or the password in "
            "redis.url",
            False,
        )
    if isinstance(error, ResponseError):
        return ServiceFault(
            f"{where} refuses the database {parts.path or '/0'}: {reason}, {_CONSEQUENCE}; correct the "
            "number at the end of redis.url",
            False,
        )
    if "Name or service not known" in reason:
        return ServiceFault(
            f'the host "{parts.hostname}" is unknown, {_CONSEQUENCE}; correct the host in redis.url',
            False,
        )
    return ServiceFault(f"{where} does not answer, {_CONSEQUENCE}; start it, or correct redis.url", True)
