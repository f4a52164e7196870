"""Assembles the services for operators: health checks, backups and circuit metrics."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strongroom.assembly.files import FileServices
from strongroom.assembly.infrastructure import Infrastructure
from strongroom.backup.create import BackupService
from strongroom.health.doctor import Doctor
from strongroom.health.probes import probes
from strongroom.health.readiness import Readiness
from strongroom.plugin_api.storage import LocalPaths

if TYPE_CHECKING:
    from strongroom.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class OperatingServices:
    """The services for operators."""

    readiness: Readiness
    backups: BackupService
    doctor: Doctor


def assemble_operating(base: Infrastructure, keeping: FileServices) -> OperatingServices:
    """Create the services for operators, and connect circuits with their metrics."""
    parts = probes(base.database, base.limits_store, keeping.blobs.storages)
    readiness = Readiness(parts, base.clock)
    base.resources.callback(readiness.close)
    backends = {name: store.backend for name, store in keeping.blobs.storages.items()}
    doctor = Doctor(
        base.settings,
        base.database,
        base.limits_store,
        backends,
        keeping.blobs.ownership,
        base.clock,
        base.keys,
    )
    _watch_circuits(base, keeping)
    return OperatingServices(readiness, _backups(base, keeping), doctor)


def _watch_circuits(base: Infrastructure, keeping: FileServices) -> None:
    if base.metrics is None:
        return
    for name, store in keeping.blobs.storages.items():
        store.circuit.observe = partial(_note_circuit, base.metrics, name)
        _note_circuit(base.metrics, name, is_open=False)


def _note_circuit(metrics: "Metrics", storage: str, is_open: bool) -> None:
    metrics.circuit(storage, is_open=is_open)


def _backups(base: Infrastructure, keeping: FileServices) -> BackupService:
    storages = {
        name: (choice.extension.name, issubclass(choice.extension, LocalPaths))
        for name, choice in base.selection.storages.items()
    }
    return BackupService(base.settings, base.database, base.clock, keeping.blobs, storages)
