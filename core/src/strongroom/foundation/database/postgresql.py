"""Connections to PostgreSQL with a time limit for statements that the client enforces.

The server enforces ``statement_timeout``, so it has no effect while the server itself hangs. TCP does
not time out either while the kernel of a frozen process still acknowledges packets. So the client
measures the time, too.

A connection is either direct or through a pooler such as pgbouncer, which may hand each transaction to
another session of the server. A setting of a session would stay there for others, so through a pooler
each transaction sets what it needs (``SET LOCAL``), and no statement is prepared.
"""

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final, TypeVar

import psycopg

from strongroom.foundation.database.hanging import SUSPICIOUS_SECONDS, Hanging, HangingCircuit

CONNECT_SECONDS: Final = 10
PROBE_SECONDS: Final = 2
_COMMIT_SECONDS: Final = 2
GRACE_SECONDS: Final = 0.5
"""How much earlier the server cancels a slow statement than the client, which loses the connection."""

NO_JIT: Final = "-c jit=off"
"""Compiling a statement takes seconds, and pays for statements that run for minutes.

The planner decides by the estimated cost, which is far too high for a recursive query.
"""

_MARK: Final = "-c strongroom.direct=on"
"""A setting of the session. Poolers ignore or refuse settings at the start of a session."""

_UNSUPPORTED: Final = "unsupported startup parameter"
"""What pgbouncer answers to settings at the start of a session, unless it ignores them."""

# The smallest durable change: a record of the log, which needs no table and no permission.
_COMMIT: Final = "SELECT pg_logical_emit_message(true, 'strongroom', '')"
_COMMITS_HANG: Final = (
    "Commits hang, because a synchronous standby or the disk of the database does; changes are refused"
)

_STANDBY: Final = ("hot standby", "session is read-only")
"""What libpq reports of a standby if the URL or several hosts want a primary."""

_GREETING: Final = b"SELECT pg_is_in_recovery(), current_setting('strongroom.direct', true) = 'on'"

CLUSTER: Final = (
    "SELECT system_identifier::text || '/' || oid FROM pg_control_system(), pg_database "
    "WHERE datname = current_database()"
)
"""Selects the identity of a database, which it shares with its standbys only."""

T = TypeVar("T")


class ServerInRecovery(psycopg.OperationalError):
    """The server is a standby, which refuses writes and may lag behind its primary."""

    sqlstate = "25006"


class WrongReplica(psycopg.OperationalError):
    """The server is no standby of the database."""


class ServerHangs(psycopg.OperationalError, Hanging):
    """The server did not respond in time."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed when the server does not respond in time.

    psycopg waits for the server in ``wait`` only, for every kind of operation.
    """

    seconds: float | None = None
    circuit: HangingCircuit | None = None
    commits: HangingCircuit | None = None
    """Knows whether durable commits hang; set while a durable transaction runs."""
    is_pooled: bool = False
    """Whether a pooler may hand each transaction to another session of the server."""
    begin: str = "BEGIN READ WRITE"
    """Begins a transaction through a pooler. A standby refuses READ WRITE."""

    @property
    def statement_milliseconds(self) -> int:
        """The server's time limit of a statement; 0 is unlimited."""
        return 0 if self.seconds is None else _limit(self.seconds)

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Wait for the server, at most :attr:`seconds`.

        Raises:
            ServerHangs: it did not respond in time; the connection is closed.
        """
        if self.seconds is None:
            return super().wait(gen, *args, **options)
        try:
            return super().wait(self._bounded(gen, self.seconds), *args, **options)
        except ServerHangs:
            self.close()
            raise

    def _bounded(self, gen: Generator[T, Any, Any], seconds: float) -> Generator[T, Any, Any]:
        # Wraps psycopg's wait generator. It yields a state to wait for, and psycopg sends back which
        # events are ready, or nothing at each poll interval; the time is checked at those.
        if self.circuit is not None and self.circuit.is_open:
            # Fail before the statement is sent: each thread would otherwise wait for the whole time
            # limit.
            raise ServerHangs("the server hangs")
        began = time.monotonic()
        try:
            state = next(gen)
            while True:
                ready = yield state
                if not ready:
                    self._check_time(time.monotonic() - began, seconds)
                state = gen.send(ready)
        except StopIteration as end:
            return end.value

    def _check_time(self, waited: float, seconds: float) -> None:
        if self.circuit is not None and waited >= SUSPICIOUS_SECONDS:
            self.circuit.suspect()
        if self.commits is not None and waited >= SUSPICIOUS_SECONDS:
            self.commits.suspect()
            if self.commits.is_open:
                raise ServerHangs("commits hang")
        if waited >= seconds:
            raise ServerHangs(f"no response from the server for {seconds:g} s")


class StandbyConnection(BoundedConnection):
    """A connection whose statements end as soon as the server is known to hang.

    The primary can repeat them, so nothing is gained by waiting for the rest of the time.
    """

    begin = "BEGIN READ ONLY"

    def _check_time(self, waited: float, seconds: float) -> None:
        super()._check_time(waited, seconds)
        if self.circuit is not None and self.circuit.is_open:
            raise ServerHangs("the server hangs")


class Connector:
    """Opens connections to one server, which must not be a standby.

    Of several hosts it uses the first one with this role, and tries the last one that had it first.
    libpq's ``target_session_attrs`` would trust what a pooler reports, which is the role that its server
    had at the pooler's first connection.

    Args:
        parameters: the driver's parameters from the database's URL; they override the defaults here.
        seconds: the time limit of a statement; ``None`` is unlimited.
    """

    connection_class: type[BoundedConnection] = BoundedConnection

    def __init__(self, parameters: Mapping[str, Any], seconds: float | None) -> None:
        self._seconds = seconds
        self._parameters = {**_network(seconds or CONNECT_SECONDS), **parameters}
        self._hosts = _hosts(parameters)
        # Known after the first connection; another one may still find a pooler later.
        self._is_pooled = False
        self.circuit = HangingCircuit(self._responds)
        self.commits = HangingCircuit(self._commits, _COMMITS_HANG)

    def connect(self, *, autocommit: bool = False) -> BoundedConnection:
        """Open a connection.

        Raises:
            psycopg.OperationalError: the server refuses it, does not respond, is known to hang or is in
                recovery.
        """
        if self.circuit.is_open:
            raise ServerHangs("the server hangs")
        errors: list[psycopg.OperationalError] = []
        for host in self._hosts:
            try:
                connection = self._open(host, self._greeting_seconds, self.circuit)
            except psycopg.OperationalError as error:
                errors.append(error)
            else:
                # The next connection tries this host first.
                self._hosts = (host, *(other for other in self._hosts if other is not host))
                connection.seconds = self._seconds
                connection.autocommit = autocommit
                return connection
        if any(isinstance(error, psycopg.errors.ConnectionTimeout) for error in errors):
            self.circuit.trip()
        raise _summarize(errors)

    @property
    def _greeting_seconds(self) -> float | None:
        """The time limit of the first statement.

        A pooler whose server is unavailable accepts connections and does not respond, so another host
        must be tried in time.
        """
        return self._seconds if len(self._hosts) == 1 else float(self._parameters["connect_timeout"])

    def _open(
        self, host: Mapping[str, Any], seconds: float | None, circuit: HangingCircuit | None = None
    ) -> BoundedConnection:
        """Open a connection to a host.

        Args:
            host: parameters that override the ones of the connector.
            seconds: the time limit of the first statement.

        Raises:
            psycopg.OperationalError: the host is unavailable, or has another role.
        """
        parameters = {**self._parameters, **host}
        try:
            connection = self._open_direct(parameters) or self._connect(parameters)
        except psycopg.OperationalError as error:
            if any(text in str(error) for text in _STANDBY):
                raise ServerInRecovery("the server is a standby, and no host is a primary") from error
            raise
        connection.seconds, connection.circuit = seconds, circuit
        try:
            self._greet(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_direct(self, parameters: Mapping[str, Any]) -> BoundedConnection | None:
        """Return a connection that has the settings of the session unless a pooler ignores them.

        ``None`` means that a pooler refuses them.
        """
        if self._is_pooled:
            return None
        try:
            return self._connect(self._with_settings(parameters))
        except psycopg.OperationalError as error:
            if _UNSUPPORTED in str(error):
                return None
            raise

    def _connect(self, parameters: Mapping[str, Any]) -> BoundedConnection:
        return self.connection_class.connect(**parameters, autocommit=True)

    def _with_settings(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters with settings of the session, which only a direct connection keeps."""
        settings = [NO_JIT, _MARK]
        if self._seconds is not None:
            settings.append(f"-c statement_timeout={_limit(self._seconds)}")
        # PostgreSQL uses the last setting of a name, so the options of the URL come last.
        options = " ".join([*settings, parameters.get("options", "")]).strip()
        return {**parameters, "options": options}

    def _greet(self, connection: BoundedConnection) -> None:
        row = connection.execute(_GREETING).fetchone()
        is_standby, is_direct = row or (False, False)
        self._require_role(connection, is_standby=is_standby)
        if not is_direct:
            connection.is_pooled = self._is_pooled = True
            # The session of the next transaction would not know what another has prepared.
            connection.prepare_threshold = None
            self._set_mode(connection)

    def _require_role(self, _connection: BoundedConnection, *, is_standby: bool) -> None:
        if is_standby:
            raise ServerInRecovery("the server is in recovery: it is a standby, and refuses writes")

    def _set_mode(self, connection: BoundedConnection) -> None:
        # Each transaction begins as READ WRITE, which a standby refuses: the pooler may connect to
        # another server between two transactions.
        connection.read_only = False

    def _commits(self) -> bool:
        """Return whether a durable commit ends soon."""
        try:
            with self._probe() as connection:
                # Later than the client's limit: PostgreSQL ends a wait for a standby by a commit.
                connection.execute(f"SET statement_timeout = {2000 * _COMMIT_SECONDS}")
                connection.seconds = _COMMIT_SECONDS
                connection.execute(_COMMIT)
        except ServerHangs:
            return False
        except psycopg.Error:
            # Not because of commits.
            return True
        return True

    def _responds(self) -> bool:
        try:
            self._probe().close()
        except (psycopg.errors.ConnectionTimeout, ServerHangs):
            return False
        except psycopg.Error:
            # A refusal is a response: requests fail as fast as this, so they need no circuit.
            return True
        return True

    def _probe(self) -> BoundedConnection:
        """Open a connection soon or not at all.

        Raises:
            psycopg.errors.ConnectionTimeout, ServerHangs: a host does not respond, and no other one has
                the role.
        """
        errors: list[psycopg.OperationalError] = []
        for host in self._hosts:
            try:
                return self._open({**host, "connect_timeout": PROBE_SECONDS}, PROBE_SECONDS)
            except psycopg.OperationalError as error:
                errors.append(error)
        slow = (psycopg.errors.ConnectionTimeout, ServerHangs)
        raise next((error for error in errors if isinstance(error, slow)), errors[0])


class StandbyConnector(Connector):
    """Opens connections to a streaming standby, or to one of several.

    Args:
        cluster: returns the identity of the primary's database; ``None`` if it is not known yet.
    """

    connection_class = StandbyConnection

    def __init__(
        self, parameters: Mapping[str, Any], seconds: float | None, cluster: Callable[[], str | None]
    ) -> None:
        # A read waits for a connection before the primary answers it.
        super().__init__({"connect_timeout": PROBE_SECONDS, **parameters}, seconds)
        self._cluster = cluster

    def _require_role(self, connection: BoundedConnection, *, is_standby: bool) -> None:
        if not is_standby:
            raise WrongReplica("is no standby")
        row, cluster = connection.execute(CLUSTER).fetchone(), self._cluster()
        if cluster is not None and row != (cluster,):
            raise WrongReplica("is a standby of another database")

    def _set_mode(self, connection: BoundedConnection) -> None:
        connection.read_only = True


def _limit(seconds: float) -> int:
    """Return the server's time limit of a statement in milliseconds."""
    return int((seconds - GRACE_SECONDS) * 1000)


def _hosts(parameters: Mapping[str, Any]) -> tuple[dict[str, str], ...]:
    """Return the parameters of each host.

    An explicit ``target_session_attrs`` leaves the choice to libpq.
    """
    lists = {
        name: str(parameters[name]).split(",")
        for name in ("host", "hostaddr", "port")
        if parameters.get(name)
    }
    count = max(map(len, lists.values()), default=1)
    if count == 1 or "target_session_attrs" in parameters:
        return ({},)
    return tuple(
        {name: items[number] if len(items) > 1 else items[0] for name, items in lists.items()}
        for number in range(count)
    )


def _summarize(errors: Sequence[psycopg.OperationalError]) -> psycopg.OperationalError:
    """Return the error of all hosts together."""
    if len(errors) == 1:
        return errors[0]
    if any(isinstance(error, ServerInRecovery) for error in errors):
        return ServerInRecovery("the server is a standby, and no host is a primary")
    return type(errors[-1])("; ".join(str(error) for error in errors))


def _network(seconds: float) -> dict[str, Any]:
    """Return the TCP parameters that detect a lost machine or network."""
    return {
        # libpq applies it to each address of the host, so half of the limit leaves time for a second.
        "connect_timeout": max(PROBE_SECONDS, int(seconds / 2)),
        # Milliseconds, unlike the others. It covers sent data that is not acknowledged, keepalives only
        # idle connections.
        "tcp_user_timeout": int(seconds * 1000),
        "keepalives_idle": max(1, int(seconds)),
        "keepalives_interval": max(1, int(seconds / 3)),
        "keepalives_count": 3,
    }
