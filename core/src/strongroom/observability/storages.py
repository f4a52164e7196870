"""Observes the calls of storages: metrics and traces."""

from typing import Protocol

from strongroom.plugin_api.storage import ObjectNotFound
from strongroom.plugin_api.tracing import current_span


class StorageMeter(Protocol):
    """Records the durations of calls."""

    def storage_call(self, storage: str, verb: str, seconds: float, *, failed: bool) -> None:
        """Count a call of a storage."""


class StorageCallObserver:
    """Receives each call of a storage; see :attr:`strongroom.storage.stores.Store.observe`.

    Args:
        meter: records metrics, if there are any.
    """

    def __init__(self, meter: StorageMeter | None) -> None:
        self._meter = meter

    def __call__(self, storage: str, verb: str, seconds: float, error: BaseException | None) -> None:
        """Record a call that has ended."""
        # An object that does not exist is an answer and no failure.
        failure = None if isinstance(error, ObjectNotFound) else error
        if self._meter is not None:
            self._meter.storage_call(storage, verb, seconds, failed=failure is not None)
        if (span := current_span()) is not None:
            span.record(f"storage {verb}", seconds, {"strongroom.storage": storage}, failure)
