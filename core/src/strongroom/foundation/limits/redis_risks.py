"""Settings of Redis with which a failover, or a lack of memory, could lose counts."""

from collections.abc import Iterator
from typing import Any, Final

from redis import Redis, RedisError

from strongroom.foundation.limits.redis_clients import FAULTS, RedisServers

MIN_DOWN_AFTER_MS: Final = 5000
"""Sentinels know the offsets of replicas by reports that may be so old."""

_PROBED_KEY: Final = "strongroom-probe"
_MIN_REPLICAS: Final = 2
_KEEPS_ALL: Final = "noeviction"

Risk = tuple[str, str]
"""What could happen, and the remedy."""


def find_risks(servers: RedisServers) -> Iterator[Risk]:
    """Yield the risks of the servers' settings, each once."""
    try:
        yield from dict.fromkeys(_find_all(servers))
    except FAULTS:
        yield "the settings of Redis cannot be read", "see the finding about limits"


def _find_all(servers: RedisServers) -> Iterator[Risk]:
    for client, _ in servers.probes(_PROBED_KEY):
        yield from _find_memory_risks(client)
        if servers.address.replicas:
            yield from _find_replica_risks(client)
    for sentinel in servers.sentinels():
        yield from _find_sentinel_risks(sentinel, servers.address.service)


def _find_memory_risks(client: Redis) -> Iterator[Risk]:
    memory: Any = client.info("memory")
    if memory["maxmemory"] and (policy := memory["maxmemory_policy"]) != _KEEPS_ALL:
        message = f"Redis forgets counts when its memory is full (maxmemory-policy {policy})"
        yield message, f"set maxmemory-policy {_KEEPS_ALL}"


def _find_replica_risks(client: Redis) -> Iterator[Risk]:
    replication: Any = client.info("replication")
    if (count := replication["connected_slaves"]) < _MIN_REPLICAS:
        message = f"after a failover counts are refused until a replica follows: there is only {count}"
        yield message, f"run {_MIN_REPLICAS} replicas"
    persistence: Any = client.info("persistence")
    if not persistence["aof_enabled"]:
        message = "a primary that restarts before it is replaced has lost all counts"
        yield message, "set appendonly yes"


def _find_sentinel_risks(sentinel: Redis, service: str) -> Iterator[Risk]:
    try:
        services: Any = sentinel.execute_command("SENTINEL MASTERS")
    except RedisError:
        message, remedy = "a Sentinel of redis.url does not answer", "start it, or correct redis.url"
        yield message, remedy
        return
    state = services.get(service)
    if state is None:
        message = f'a Sentinel of redis.url does not know the service "{service}"'
        yield message, "correct redis.url, or let it monitor the service"
    elif (milliseconds := int(state["down-after-milliseconds"])) < MIN_DOWN_AFTER_MS:
        message = f"a replica that lacks counts may be promoted: Sentinels wait only {milliseconds} ms"
        yield message, f"set down-after-milliseconds {MIN_DOWN_AFTER_MS} or more"
