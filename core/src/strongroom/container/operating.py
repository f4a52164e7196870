"""Assembles the services for operators."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strongroom.container.files import FileServices
from strongroom.container.infrastructure import Infrastructure
from strongroom.observability.observers import StorageCallObserver
from strongroom.observability.readiness import Readiness, probes

if TYPE_CHECKING:
    from strongroom.observability.metrics import Metrics


@dataclass(frozen=True, slots=True)
class OperatingServices:
    """The services for operators."""

    readiness: Readiness


def assemble_operating(base: Infrastructure, keeping: FileServices) -> OperatingServices:
    """Create the services for operators, and connect circuits with their metrics."""
    parts = probes(base.database, base.limits_store, keeping.blobs.storages)
    readiness = Readiness(parts, base.clock)
    base.resources.callback(readiness.close)
    _observe_storages(base, keeping)
    return OperatingServices(readiness)


def _observe_storages(base: Infrastructure, keeping: FileServices) -> None:
    observer = StorageCallObserver(base.metrics)
    for name, store in keeping.blobs.storages.items():
        store.observe = observer if base.is_observed else None
        if base.metrics is None:
            continue
        store.circuit.observe = partial(_note_circuit, base.metrics, name)
        _note_circuit(base.metrics, name, is_open=False)


def _note_circuit(metrics: "Metrics", storage: str, is_open: bool) -> None:
    metrics.circuit(storage, is_open=is_open)
