"""Assembles the services for operators."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strongroom.backup.create import BackupService
from strongroom.container.events import EventServices
from strongroom.container.files import FileServices
from strongroom.container.identity import IdentityServices
from strongroom.container.infrastructure import Infrastructure
from strongroom.container.jobs import core_jobs
from strongroom.jobs.leases import JobLeases
from strongroom.observability.doctor import Doctor
from strongroom.observability.event_checks import EventsCheck
from strongroom.observability.name_index_check import NameIndexCheck
from strongroom.observability.plugin_checks import JobsCheck, PluginTablesCheck
from strongroom.observability.readiness import Readiness, probes
from strongroom.observability.scan_check import ScannersCheck
from strongroom.observability.storages import StorageCallObserver
from strongroom.plugin_api.storage import LocalPaths
from strongroom.plugin_host.hosts import PluginHosts
from strongroom.plugin_host.jobs import registered_jobs
from strongroom.storage.stores import Store

if TYPE_CHECKING:
    from strongroom.observability.metrics import Metrics


@dataclass(frozen=True, slots=True)
class OperatingServices:
    """The services for operators."""

    readiness: Readiness
    backups: BackupService
    doctor: Doctor


def assemble_operating(
    base: Infrastructure,
    identity: IdentityServices,
    keeping: FileServices,
    events: EventServices,
    hosts: PluginHosts,
) -> OperatingServices:
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
        [
            EventsCheck(events.positions),
            PluginTablesCheck(base.database, base.selection.plugins.tables),
            JobsCheck(
                JobLeases(base.database, base.clock),
                lambda: registered_jobs(hosts, core_jobs(identity, keeping)),
                base.clock,
            ),
            ScannersCheck(keeping.scanners, keeping.rescans, base.clock),
            NameIndexCheck(keeping.reindexing),
        ],
    )
    _observe_storages(base, keeping)
    return OperatingServices(readiness, _backups(base, keeping), doctor)


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


def _is_in_backups(base: Infrastructure, store: Store) -> bool:
    # A backup of a wrapper's objects would undo what the wrapper does, such as encryption.
    is_wrapper = base.settings.storages[store.name].over is not None
    return not is_wrapper and store.capability(LocalPaths) is not None


def _backups(base: Infrastructure, keeping: FileServices) -> BackupService:
    storages = {
        name: (store.backend.name, _is_in_backups(base, store))
        for name, store in keeping.blobs.storages.items()
    }
    tables = base.selection.plugins.tables
    return BackupService(base.settings, base.database, base.clock, keeping.blobs, storages, tables)
