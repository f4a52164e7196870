"""Connections to PostgreSQL whose statements end within a time, whatever the server does.

``statement_timeout`` is enforced by the server, so it ends nothing while the server itself hangs, and
TCP has nothing to time out while the kernel of a frozen process still acknowledges. So the client
counts, too.
"""

import time
from collections.abc import Generator, Mapping
from typing import Any, Final, TypeVar

import psycopg

from strongroom.database.hanging import SUSPICIOUS_SECONDS, HangingCircuit

CONNECT_SECONDS: Final = 10
PROBE_SECONDS: Final = 2
GRACE_SECONDS: Final = 0.5
"""How much earlier the server gives up a slow statement than the client, which loses the connection."""

T = TypeVar("T")


class ServerHangs(psycopg.OperationalError):
    """The server does not answer in time."""


class BoundedConnection(psycopg.Connection[Any]):
    """A connection that is given up when the server does not answer.

    ``wait`` is where the driver waits for the server, whatever it wants of it.
    """

    seconds: float | None = None
    circuit: HangingCircuit | None = None

    def wait(self, gen: Any, *args: Any, **options: Any) -> Any:
        """Wait for the server, but not longer than :attr:`seconds`.

        Raises:
            ServerHangs: it did not answer; the connection is closed.
        """
        if self.seconds is None:
            return super().wait(gen, *args, **options)
        try:
            return super().wait(self._bounded(gen, self.seconds), *args, **options)
        except ServerHangs:
            self.close()
            raise

    def _bounded(self, gen: Generator[T, Any, Any], seconds: float) -> Generator[T, Any, Any]:
        if self.circuit is not None and self.circuit.is_open:
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
            raise ServerHangs(f"the server has not answered for {seconds:g} s")


class Connector:
    """Opens connections to one server.

    Args:
        parameters: of the driver, from the database's URL; they win over those made here.
        seconds: how long a statement may take, or ``None`` for any time.
    """

    def __init__(self, parameters: Mapping[str, Any], seconds: float | None) -> None:
        self._seconds = seconds
        self._parameters = {**_network(seconds or CONNECT_SECONDS), **parameters}
        if seconds is not None:
            limit = f"-c statement_timeout={int((seconds - GRACE_SECONDS) * 1000)}"
            # The last one of the same name counts.
            self._parameters["options"] = f"{limit} {parameters.get('options', '')}".strip()
        self.circuit = HangingCircuit(self._answers)

    def connect(self, **options: Any) -> BoundedConnection:
        """Open a connection.

        Raises:
            psycopg.OperationalError: the server refuses it, does not answer or is known to hang.
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

    def _answers(self) -> bool:
        parameters = {**self._parameters, "connect_timeout": PROBE_SECONDS}
        try:
            with BoundedConnection.connect(**parameters, autocommit=True) as connection:
                connection.seconds = PROBE_SECONDS
                connection.execute("SELECT 1")
        except (psycopg.errors.ConnectionTimeout, ServerHangs):
            return False
        except psycopg.Error:
            # It refuses: an answer, which requests get just as quickly.
            return True
        return True


def _network(seconds: float) -> dict[str, Any]:
    """Return the parameters that notice a server whose machine or network is gone."""
    return {
        "connect_timeout": max(PROBE_SECONDS, int(seconds / 2)),
        "tcp_user_timeout": int(seconds * 1000),
        "keepalives_idle": max(1, int(seconds)),
        "keepalives_interval": max(1, int(seconds / 3)),
        "keepalives_count": 3,
    }
