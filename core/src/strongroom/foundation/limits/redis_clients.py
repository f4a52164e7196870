"""Clients of Redis for each form of its URL, and scripts whose writes replicas must acknowledge."""

from collections.abc import Sequence
from hashlib import sha1
from threading import Lock
from time import monotonic
from typing import Any, Final

from redis import ConnectionError as RedisConnectionError
from redis import Redis, RedisCluster, RedisError
from redis.backoff import NoBackoff
from redis.cluster import ClusterNode
from redis.exceptions import AskError, MovedError, NoScriptError, RedisClusterException
from redis.retry import Retry
from redis.sentinel import Sentinel

from strongroom.foundation.config.redis_urls import RedisAddress, RedisKind

FAULTS: Final = (RedisError, RedisClusterException)
"""The exceptions of a client. A cluster raises some that are no RedisError."""

# TCP repeats a lost packet after 0.2 s, and a lost SYN after 1 s. The timeout is longer, so that neither
# counts as an outage, and short, because each waiting request occupies a thread of the server.
TIMEOUT_SECONDS: Final = 1.5
# There are several Sentinels, so that a lost packet costs only the next one's answer.
_SENTINEL_SECONDS: Final = 0.5
_ACKNOWLEDGED_MS: Final = 1000
_REDIRECTIONS: Final = 3
_PAUSE_SECONDS: Final = 0.5
# Of so many keys each primary has some.
_PROBED_KEYS: Final = 256

# A replica acknowledges once a second; after two without, it is not waited for.
_LIVE: Final = """
local function live()
  local count = 0
  local lags = 'state=online,offset=%d+,lag=(%d+)'
  for lag in string.gmatch(redis.call('INFO', 'replication'), lags) do
    if tonumber(lag) <= 2 then count = count + 1 end
  end
  return count
end
"""


class TooFewReplicas(RedisError):
    """Too few replicas acknowledge writes: another server may be the primary by now."""


class Script:
    """A Lua script of one key, also in a form that reports the number of live replicas."""

    def __init__(self, text: str, *, writes: bool) -> None:
        self.writes = writes
        self.plain = _Text(text)
        self.reporting = _Text(
            f"{_LIVE}local function result()\n{text}\nend\nreturn {{result() or false, live()}}"
        )


class _Text:
    def __init__(self, text: str) -> None:
        self.text = text
        self.digest = sha1(text.encode(), usedforsecurity=False).hexdigest()


class RedisServers:
    """The servers of a URL. Connects at the first use, so that a server starts without Redis.

    Nothing is retried, because the first try may have been counted.
    """

    def __init__(self, address: RedisAddress, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self.address = address
        self._seconds = timeout_seconds
        self._client = self._make_client()

    def probes(self, prefix: str) -> Sequence[tuple[Redis, str]]:
        """Return a client for each primary, with a key that begins with the prefix and belongs to it.

        Raises:
            redis.RedisError: the primary is unknown.
            redis.exceptions.RedisClusterException: no node of the cluster answers.
        """
        return [(self._client, prefix)]

    def sentinels(self) -> Sequence[Redis]:
        """Return a client for each Sentinel."""
        return ()

    def run(self, script: Script, key: str, *arguments: float) -> Any:
        """Run a script on the primary of a key.

        Raises:
            TooFewReplicas: the write is not acknowledged by every live replica, or they are too few.
            redis.RedisError: the primary does not answer, or refuses the script.
            redis.exceptions.RedisClusterException: no node of the cluster answers.
        """
        return self._run_at(self._client, script, key, arguments)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    def _make_client(self) -> Redis:
        address = self.address
        options = self._options()
        if address.path:
            options["unix_socket_path"] = address.path
        else:
            options["host"], options["port"] = address.hosts[0]
        return Redis(**options, retry=Retry(NoBackoff(), 0), db=address.database)

    def _options(self) -> dict[str, Any]:
        timeouts = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), self._seconds)
        tls = {} if self.address.tls is None else {"ssl": True, **self.address.tls}
        return {**timeouts, **tls, **self.address.login}

    def _run_at(
        self, client: Redis, script: Script, key: str, arguments: Sequence[float], *first: str
    ) -> Any:
        connection: Any = client.connection_pool.get_connection()
        try:
            if first:
                _call(connection, *first)
            return self._run_on(connection, script, key, arguments)
        except BaseException:
            # Another server may be the primary: the next connection asks again.
            connection.disconnect()
            raise
        finally:
            client.connection_pool.release(connection)

    def _run_on(self, connection: Any, script: Script, key: str, arguments: Sequence[float]) -> Any:
        """Run a script on a connection, which never reconnects: a new one has no writes to wait for."""
        required = self.address.replicas
        if not required:
            return _evaluate(connection, script.plain, key, arguments)
        result, replicas = _evaluate(connection, script.reporting, key, arguments)
        if script.writes and result:
            required = max(replicas, required)
            replicas = _call(connection, "WAIT", required, _ACKNOWLEDGED_MS)
        if replicas < required:
            raise TooFewReplicas(f"NOREPLICAS {replicas} of {required} replicas acknowledge writes")
        return result


def _evaluate(connection: Any, text: _Text, key: str, arguments: Sequence[float]) -> Any:
    try:
        return _call(connection, "EVALSHA", text.digest, 1, key, *arguments)
    except NoScriptError:
        return _call(connection, "EVAL", text.text, 1, key, *arguments)


def _call(connection: Any, *command: Any) -> Any:
    connection.send_command(*command, check_health=False)
    return connection.read_response()


class SentinelServers(RedisServers):
    """A primary and its replicas, whose Sentinels name the primary."""

    def sentinels(self) -> Sequence[Redis]:
        return tuple(self._sentinel.sentinels)

    def _make_client(self) -> Redis:
        address, options = self.address, self._options()
        timeouts = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), _SENTINEL_SECONDS)
        tls = {name: value for name, value in options.items() if name.startswith("ssl")}
        of_sentinels = {**tls, **timeouts, **address.sentinel_login, "retry": Retry(NoBackoff(), 0)}
        self._sentinel = Sentinel(address.hosts, sentinel_kwargs=of_sentinels, **options)
        client: Redis = self._sentinel.master_for(
            address.service, db=address.database, retry=Retry(NoBackoff(), 0)
        )
        return client


class ClusterServers(RedisServers):
    """A cluster. Each script has one key, so no key needs a hash tag."""

    def __init__(self, address: RedisAddress, timeout_seconds: float = TIMEOUT_SECONDS) -> None:
        self.address = address
        self._seconds = timeout_seconds
        self._lock = Lock()
        self._cluster: RedisCluster | None = None
        self._is_stale = False
        self._fault: Exception | None = None
        self._fault_until = 0.0

    def probes(self, prefix: str) -> Sequence[tuple[Redis, str]]:
        # Another node may be the primary of slots since the last probe, which no script has noticed.
        self._is_stale = True
        cluster = self._connect()
        keys = (f"{prefix}:{number}" for number in range(_PROBED_KEYS))
        nodes = {cluster.get_node_from_key(key): key for key in keys}
        return [(cluster.get_redis_connection(node), key) for node, key in nodes.items() if node]

    def run(self, script: Script, key: str, *arguments: float) -> Any:
        cluster = self._connect()
        try:
            return self._run(cluster, script, key, arguments)
        except FAULTS:
            self._is_stale = True
            raise

    def close(self) -> None:
        if self._cluster is not None:
            self._cluster.close()

    def _run(self, cluster: RedisCluster, script: Script, key: str, arguments: Sequence[float]) -> Any:
        """Run a script on the node of its key; a redirected script has not run."""
        node = cluster.get_node_from_key(key)
        first: tuple[str, ...] = ()
        for _ in range(_REDIRECTIONS):
            try:
                return self._run_at(cluster.get_redis_connection(node), script, key, arguments, *first)
            except AskError as error:
                # MOVED is for all commands, ASK for this one.
                is_moved = isinstance(error, MovedError)
                self._is_stale = self._is_stale or is_moved
                first = () if is_moved else ("ASKING",)
                node = cluster.get_node(error.host, error.port) or ClusterNode(error.host, error.port)
        raise RedisConnectionError("the cluster redirects in circles")

    def _connect(self) -> RedisCluster:
        with self._lock:
            # The threads that waited for a failed attempt do not each repeat it.
            if self._fault is not None and monotonic() < self._fault_until:
                raise RedisConnectionError(str(self._fault)) from self._fault
            try:
                self._cluster = self._refreshed()
            except FAULTS as error:
                self._fault, self._fault_until = error, monotonic() + _PAUSE_SECONDS
                raise
            self._is_stale = False
            return self._cluster

    def _refreshed(self) -> RedisCluster:
        """Return the client of the cluster, with its slots of now after a fault."""
        if self._cluster is None:
            nodes = [ClusterNode(host, port) for host, port in self.address.hosts]
            return RedisCluster(startup_nodes=nodes, retry=Retry(NoBackoff(), 0), **self._options())
        if self._is_stale:
            self._cluster.nodes_manager.initialize()
        return self._cluster


_CLASSES: Final = {RedisKind.SENTINEL: SentinelServers, RedisKind.CLUSTER: ClusterServers}


def redis_servers(address: RedisAddress, timeout_seconds: float = TIMEOUT_SECONDS) -> RedisServers:
    """Return the servers of a URL, without a connection."""
    return _CLASSES.get(address.kind, RedisServers)(address, timeout_seconds)
