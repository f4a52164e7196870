"""Connections to PostgreSQL with a time limit for statements that the client enforces.

The server enforces ``statement_timeout``, so it has no effect while the server itself hangs. TCP does
not time out either while the kernel of a frozen process still acknowledges packets. So the client
measures the time, too.
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

T = TypeVar("T")


class ServerHangs(psycopg.OperationalError, Hanging):
    """The server did not respond in time."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is closed when the server does not respond in time.

    psycopg waits for the server in ``wait`` only, for every kind of operation.
    """

    seconds: float | None = None
    circuit: HangingCircuit | None = None

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
            if self.circuit is not None:
                self.circuit.trip()
            raise ServerHangs(f"no response from the server for {seconds:g} s")


class Connector:
    """Opens connections to one server.

    Args:
        parameters: the driver's parameters from the database's URL; they override the defaults here.
        seconds: the time limit of a statement; ``None`` is unlimited.
    """

    def __init__(self, parameters: Mapping[str, Any], seconds: float | None) -> None:
        self._seconds = seconds
        self._parameters = {**_network(seconds or CONNECT_SECONDS), **parameters}
        settings = [NO_JIT]
        if seconds is not None:
            settings.append(f"-c statement_timeout={int((seconds - GRACE_SECONDS) * 1000)}")
        # PostgreSQL uses the last setting of a name, so the options of the URL come last.
        self._parameters["options"] = " ".join([*settings, parameters.get("options", "")]).strip()
        self.circuit = HangingCircuit(self._responds)

    def connect(self, **options: Any) -> BoundedConnection:
        """Open a connection.

        Raises:
            psycopg.OperationalError: the server refuses it, does not respond or is known to hang.
        """
        if self.circuit.is_open:
            raise ServerHangs("the server hangs")
        try:
            connection = BoundedConnection.connect(**self._parameters, **options)
        except psycopg.errors.ConnectionTimeout:
            self.circuit.trip()
            raise
        connection.seconds, connection.circuit = self._seconds, self.circuit
        return connection

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
