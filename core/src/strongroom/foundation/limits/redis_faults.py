"""Why Redis cannot count: its URL is wrong, it is unavailable, or it refuses."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from limits.storage import RedisStorage
from redis import AuthenticationError, Redis, RedisError, ResponseError
from redis.exceptions import RedisClusterException
from redis.sentinel import MasterNotFoundError

from strongroom.foundation.config.redis_urls import RedisAddress, RedisKind
from strongroom.foundation.limits.redis_clients import FAULTS, RedisServers, Script

AWAY: Final = "It does not answer."


@dataclass(frozen=True, slots=True)
class RedisFault:
    """Why Redis cannot count.

    Args:
        note: the public text, without addresses.
        message: the text for operators, with the address and without passwords.
        is_temporary: whether the URL may be right.
    """

    note: str
    message: str
    remedy: str
    is_temporary: bool


_PROBED_KEY: Final = "strongroom-probe"
# The script of every count also tells whether there are enough replicas.
_PROBE: Final = Script(RedisStorage.SCRIPT_MOVING_WINDOW.decode(), writes=False)
_CODE = re.compile(r"\b(?:READONLY|OOM|MISCONF|NOREPLICAS|NOPERM|CLUSTERDOWN|NOAUTH|WRONGPASS)\b")
_CLASSES: Final = {
    "ReadOnlyError": "READONLY",
    "OutOfMemoryError": "OOM",
    "NoPermissionError": "NOPERM",
    "ClusterDownError": "CLUSTERDOWN",
    "BusyLoadingError": "LOADING",
    "MovedError": "MOVED",
}
_NO_PERMISSION: Final = "The user executing the script can't"
_WRITES: Final = {
    "READONLY": "name the primary in redis.url",
    "OOM": "raise its maxmemory",
    "MISCONF": "see its log",
    "NOREPLICAS": "start its replicas",
}
_REFUSED_LOGIN: Final = ("WRONGPASS", "NOAUTH", "invalid username-password", "Authentication required")
_TLS: Final = ("SSL", "certificate", "_ssl.c")
_CLOSED: Final = "EOF occurred"
_SLOTS_MISSING: Final = ("All slots are not covered", "not covered by the cluster")
_NO_CLUSTER: Final = ("cluster support disabled", "Cluster mode is not enabled")


def find_fault(servers: RedisServers) -> RedisFault | None:
    """Return why Redis cannot count, or ``None`` if it can; writes nothing."""
    try:
        for client, key in servers.probes(_PROBED_KEY):
            _require_writes(client, key)
            servers.run(_PROBE, key, 0, 1)
    except FAULTS as error:
        return explain(servers, error)
    return None


def _require_writes(client: Redis, key: str) -> None:
    # An empty text at the end of a missing key adds no key, but Redis refuses the command like others.
    client.setrange(key, 0, "")


def refusal_code(error: BaseException) -> str:
    """Return the code of an error of Redis, such as READONLY or OOM."""
    # The client removes the codes that it has classes for; scripts report theirs within a text.
    root, text = _find_root(error), str(error)
    if _NO_PERMISSION in text:
        return "NOPERM"
    match = _CODE.search(text) or _CODE.search(str(root))
    return _CLASSES.get(type(root).__name__) or (match[0] if match else type(error).__name__)


def explain(servers: RedisServers, error: Exception) -> RedisFault:
    """Return what an error means, and what to do."""
    if isinstance(error, MasterNotFoundError):
        return _explain_sentinels(servers)
    return _explain_server(servers.address, _name_place(servers.address), error)


def _name_place(address: RedisAddress) -> str:
    if address.kind is RedisKind.SENTINEL:
        return f'the Redis "{address.service}" of the Sentinels at {address}'
    return f"{'the cluster' if address.kind is RedisKind.CLUSTER else 'Redis'} at {address}"


def _explain_server(address: RedisAddress, where: str, error: Exception) -> RedisFault:
    root, code = _find_root(error), refusal_code(error)
    reason = " ".join(str(root).split())
    if (remedy := _WRITES.get(code)) is not None:
        message = f"{where} refuses writes ({code})"
        return RedisFault(f"It refuses writes: {code}.", message, remedy, True)
    if isinstance(root, AuthenticationError) or reason.startswith(_REFUSED_LOGIN):
        remedy = "correct the user or the password in redis.url"
        return RedisFault("It refuses the login.", f"{where} refuses the login: {reason}", remedy, False)
    if code == "NOPERM":
        message = f"{where} refuses a command (NOPERM): {reason}"
        return RedisFault(
            "It refuses a command: NOPERM.", message, "add it to the ACL of the user", False
        )
    return (
        _explain_cluster(address, where, reason, code)
        or _explain_tls(where, reason)
        or _explain_connection(address, where, root, reason)
    )


def _explain_cluster(address: RedisAddress, where: str, reason: str, code: str) -> RedisFault | None:
    if code == "CLUSTERDOWN" or any(text in reason for text in _SLOTS_MISSING):
        remedy = "see CLUSTER INFO and CLUSTER NODES of its nodes"
        return RedisFault("The cluster is down.", f"{where} is down (CLUSTERDOWN)", remedy, True)
    if any(text in reason for text in _NO_CLUSTER):
        message, remedy = f"{where} has no cluster enabled", "write redis:// in redis.url"
        return RedisFault("It is no cluster.", message, remedy, False)
    if address.kind is not RedisKind.CLUSTER and code == "MOVED":
        message, remedy = f"{where} is a cluster", "write redis+cluster:// in redis.url"
        return RedisFault("It is a cluster.", message, remedy, False)
    return None


def _explain_tls(where: str, reason: str) -> RedisFault | None:
    if not any(text in reason for text in _TLS):
        return None
    remedy = "correct rediss:// or the options ssl_ca_certs, ssl_certfile and ssl_keyfile in redis.url"
    # Both a refused certificate and a server that ends close the connection.
    message, may_be_right = f"{where} cannot be reached by TLS: {reason}", _CLOSED in reason
    return RedisFault("TLS fails.", message, remedy, may_be_right)


def _explain_connection(
    address: RedisAddress, where: str, root: BaseException, reason: str
) -> RedisFault:
    if isinstance(root, ResponseError):
        remedy = "correct the number at the end of redis.url"
        message = f"{where} refuses the database /{address.database}: {reason}"
        return RedisFault("It refuses the database.", message, remedy, False)
    if "Name or service not known" in reason:
        hosts = ", ".join(f'"{host}"' for host, _ in address.hosts)
        message, remedy = f"the host {hosts} is unknown", "correct the host in redis.url"
        return RedisFault(AWAY, message, remedy, False)
    return RedisFault(AWAY, f"{where} does not answer", "start it, or correct redis.url", True)


def _explain_sentinels(servers: RedisServers) -> RedisFault:
    """Query each Sentinel for why none names a primary."""
    address = servers.address
    where, error = f"the Sentinels at {address}", None
    for sentinel in servers.sentinels():
        try:
            names = sorted(_service_names(sentinel))
        except RedisError as failure:
            error = failure
            continue
        if address.service in names:
            message = f'{where} name no primary of "{address.service}" now'
            return RedisFault("The Sentinels name no primary.", message, "see their log", True)
        message = f'{where} know no service "{address.service}"'
        remedy = f"correct it in redis.url; known there: {', '.join(names) or 'none'}"
        return RedisFault("The Sentinels do not know the service.", message, remedy, False)
    return _of_sentinels(_explain_server(address, where, error or RedisError()))


def _service_names(sentinel: Redis) -> Iterator[str]:
    masters: Any = sentinel.execute_command("SENTINEL MASTERS")
    yield from masters


def _of_sentinels(fault: RedisFault) -> RedisFault:
    remedy = fault.remedy.replace("the user or the password", "sentinel_username or sentinel_password")
    return RedisFault(f"The Sentinels: {fault.note}", fault.message, remedy, fault.is_temporary)


def _find_root(error: BaseException) -> BaseException:
    """Return the error of the server: the client of clusters wraps it."""
    cause = error.__cause__
    if isinstance(error, RedisClusterException):
        cause = cause or error.__context__
    return _find_root(cause) if isinstance(cause, FAULTS) else error
