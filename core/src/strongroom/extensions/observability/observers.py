"""Observes the statements of a database and the calls of storages: metrics, traces, slow statements."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Final, Protocol

from strongroom.foundation.database.observers import Named
from strongroom.plugin_api.storage import ObjectNotFound
from strongroom.plugin_api.tracing import Attributes, current_span

logger: Final = logging.getLogger(__name__)


class StatementMeter(Protocol):
    """Records the durations of statements."""

    def statement(self, name: str, seconds: float, *, failed: bool) -> None:
        """Count an executed statement."""


class StatementObserver:
    """Receives each statement of a database, as its :func:`observe` describes.

    Args:
        system: the name of the database system, for traces.
        meter: records metrics, if there are any.
        slow_seconds: the duration from which on a statement is logged; 0 logs none.
    """

    def __init__(self, system: str, meter: StatementMeter | None, slow_seconds: float) -> None:
        self._attributes: Attributes = {"db.system.name": system}
        self._meter = meter
        self._slow_seconds = slow_seconds
        self.is_active: Callable[[], object] = current_span
        if meter or slow_seconds:
            self.is_active = lambda: True

    def __call__(self, statement: Named, began: float, error: BaseException | None) -> None:
        """Record a statement that has ended."""
        seconds = perf_counter() - began
        if self._meter is not None:
            self._meter.statement(statement.name, seconds, failed=error is not None)
        if (span := current_span()) is not None:
            span.record(f"statement {statement.name}", seconds, self._attributes, error)
        if self._slow_seconds and seconds >= self._slow_seconds:
            self._log(statement.name, seconds)

    def _log(self, name: str, seconds: float) -> None:
        milliseconds = round(seconds * 1000)
        members = {"statement": name, "milliseconds": milliseconds}
        logger.warning("Slow statement %s: %d ms", name, milliseconds, extra={"members": members})


class StorageMeter(Protocol):
    """Records the durations of calls."""

    def storage_call(self, storage: str, verb: str, seconds: float, *, failed: bool) -> None:
        """Count a call of a storage."""


@dataclass(slots=True, eq=False, repr=False)
class StorageCallObserver:
    """Receives each call of a storage; see :attr:`strongroom.content.storage.stores.Store.observe`.

    Args:
        meter: records metrics, if there are any.
    """

    _meter: StorageMeter | None

    def __call__(self, storage: str, verb: str, seconds: float, error: BaseException | None) -> None:
        """Record a call that has ended."""
        # An object that does not exist is an answer and no failure.
        failure = None if isinstance(error, ObjectNotFound) else error
        if self._meter is not None:
            self._meter.storage_call(storage, verb, seconds, failed=failure is not None)
        if (span := current_span()) is not None:
            span.record(f"storage {verb}", seconds, {"strongroom.storage": storage}, failure)
