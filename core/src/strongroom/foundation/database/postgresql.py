"""Connections to PostgreSQL with a time limit for statements that the client enforces.

The server enforces ``statement_timeout``, so it has no effect while the server itself hangs. TCP does
not time out either while the kernel of a frozen process still acknowledges packets. So the client
measures the time, too.

A connection is either direct or through a pooler such as pgbouncer, which may hand each transaction to
another session of the server. A setting of a session would stay there for others, so through a pooler
each transaction sets what it needs (``SET LOCAL``), and no statement is prepared.
"""

import time
from collections.abc import Generator, Mapping
from typing import Any, Final, TypeVar

import psycopg

from strongroom.foundation.database.hanging import SUSPICIOUS_SECONDS, Hanging, HangingCircuit

CONNECT_SECONDS: Final = 10
PROBE_SECONDS: Final = 2
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

_STANDBY: Final = ("hot standby", "session is read-only")
"""What libpq reports of a standby if the URL or several hosts want a primary."""

_GREETING: Final = b"SELECT pg_is_in_recovery(), current_setting('strongroom.direct', true) = 'on'"

T = TypeVar("T")


class ServerInRecovery(psycopg.OperationalError):
    """The server is a standby, which refuses writes and may lag behind its primary."""

    sqlstate = "25006"


class ServerHangs(psycopg.OperationalError, Hanging):
    """The server did not respond in time."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed when the server does not respond in time.

    psycopg waits for the server in ``wait`` only, for every kind of operation.
    """

    seconds: float | None = None
    circuit: HangingCircuit | None = None
    is_pooled: bool = False
    """Whether a pooler may hand each transaction to another session of the server."""

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
        if waited >= seconds:
            raise ServerHangs(f"no response from the server for {seconds:g} s")


class Connector:
    """Opens connections to one server, which must not be a standby.

    Args:
        parameters: the driver's parameters from the database's URL; they override the defaults here.
        seconds: the time limit of a statement; ``None`` is unlimited.
    """

    def __init__(self, parameters: Mapping[str, Any], seconds: float | None) -> None:
        self._seconds = seconds
        self._parameters = {**_network(seconds or CONNECT_SECONDS), **_roles(parameters), **parameters}
        # Known after the first connection; another one may still find a pooler later.
        self._is_pooled = False
        self.circuit = HangingCircuit(self._responds)

    def connect(self, *, autocommit: bool = False) -> BoundedConnection:
        """Open a connection.

        Raises:
            psycopg.OperationalError: the server refuses it, does not respond, is known to hang or is in
                recovery.
        """
        if self.circuit.is_open:
            raise ServerHangs("the server hangs")
        try:
            connection = self._open()
        except psycopg.errors.ConnectionTimeout:
            self.circuit.trip()
            raise
        try:
            self._greet(connection)
            connection.autocommit = autocommit
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self) -> BoundedConnection:
        try:
            return self._open_direct() or BoundedConnection.connect(**self._parameters, autocommit=True)
        except psycopg.OperationalError as error:
            if any(text in str(error) for text in _STANDBY):
                raise ServerInRecovery("the server is a standby, and no host is a primary") from error
            raise

    def _open_direct(self) -> BoundedConnection | None:
        """Return a connection that has the settings of the session unless a pooler ignores them.

        ``None`` means that a pooler refuses them.
        """
        if self._is_pooled:
            return None
        try:
            return BoundedConnection.connect(**self._with_settings(), autocommit=True)
        except psycopg.OperationalError as error:
            if _UNSUPPORTED in str(error):
                return None
            raise

    def _with_settings(self) -> dict[str, Any]:
        """Return the parameters with settings of the session, which only a direct connection keeps."""
        settings = [NO_JIT, _MARK]
        if self._seconds is not None:
            settings.append(f"-c statement_timeout={_limit(self._seconds)}")
        # PostgreSQL uses the last setting of a name, so the options of the URL come last.
        options = " ".join([*settings, self._parameters.get("options", "")]).strip()
        return {**self._parameters, "options": options}

    def _greet(self, connection: BoundedConnection) -> None:
        connection.seconds, connection.circuit = self._seconds, self.circuit
        row = connection.execute(_GREETING).fetchone()
        is_standby, is_direct = row or (False, False)
        if is_standby:
            raise ServerInRecovery("the server is in recovery: it is a standby, and refuses writes")
        if not is_direct:
            connection.is_pooled = self._is_pooled = True
            # The session of the next transaction would not know what another has prepared.
            connection.prepare_threshold = None
            # Each transaction begins as READ WRITE, which a standby refuses: the pooler may connect to
            # another server between two transactions.
            connection.read_only = False

    def _responds(self) -> bool:
        parameters = {**self._parameters, "connect_timeout": PROBE_SECONDS}
        try:
            with BoundedConnection.connect(**parameters, autocommit=True) as connection:
                connection.seconds = PROBE_SECONDS
                connection.execute("SELECT 1")
        except (psycopg.errors.ConnectionTimeout, ServerHangs):
            return False
        except psycopg.Error:
            # A refusal is a response: requests fail as fast as this, so they need no circuit.
            return True
        return True


def _limit(seconds: float) -> int:
    """Return the server's time limit of a statement in milliseconds."""
    return int((seconds - GRACE_SECONDS) * 1000)


def _roles(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameter that finds the primary among several hosts."""
    return {"target_session_attrs": "primary"} if "," in str(parameters.get("host", "")) else {}


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
