"""Records while a process serves that its instance does."""

import json
import logging
import socket
from collections.abc import Callable, Mapping
from threading import Event, Thread
from typing import Final

from sqlalchemy.exc import SQLAlchemyError

from strongroom.clock import Clock
from strongroom.extensions.observability.instances.models import Instance
from strongroom.extensions.observability.instances.store import InstanceStore
from strongroom.foundation.errors import StrongroomError
from strongroom.version import __version__

logger = logging.getLogger(__name__)

INTERVAL: Final = 30
"""Seconds between two records of an instance."""

_STOP_SECONDS: Final = 5


class Heartbeat:
    """The record of this instance, which each of its processes keeps.

    Args:
        port: the port that the instance listens on.
        sections: the digests of the shared sections of its configuration.
        measure_skew: returns how far the local clock is ahead of the database's, in milliseconds.
    """

    def __init__(
        self,
        store: InstanceStore,
        clock: Clock,
        port: int,
        sections: Mapping[str, str],
        measure_skew: Callable[[], int],
    ) -> None:
        self._store = store
        self._clock = clock
        self._name = f"{socket.gethostname()}:{port}"[:255]
        self._sections = json.dumps(dict(sections), sort_keys=True)
        self._measure_skew = measure_skew
        self._stopping = Event()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Start the thread. Call it after the process has forked."""
        if self._thread is None:
            self._thread = Thread(target=self._run, name="heartbeat", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Stop the thread. The record remains, because other processes of the instance may serve."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout=_STOP_SECONDS)

    def beat(self) -> None:
        """Record that the instance serves.

        Raises:
            StrongroomError, SQLAlchemyError: the database is unavailable.
        """
        skew, now = self._measure_skew(), self._clock.now()
        # In the time of the database, so that a clock that is wrong does not hide the instance.
        self._store.put(Instance(self._name, __version__, now - skew, skew, self._sections))

    def _run(self) -> None:
        while not self._stopping.wait(INTERVAL):
            try:
                self.beat()
            except (StrongroomError, SQLAlchemyError):
                # Reported by the probes of the database, every time a request fails.
                logger.debug("Cannot record that the instance serves", exc_info=True)
