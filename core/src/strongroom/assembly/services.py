"""Assembles the services of a process, except for those of plugins."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from strongroom.assembly.events import EventServices, assemble_events
from strongroom.assembly.features import FEATURES
from strongroom.assembly.files import FileServices
from strongroom.assembly.identity import IdentityServices
from strongroom.assembly.infrastructure import Infrastructure, PruneJob
from strongroom.clock import Clock
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.foundation.config import Settings
from strongroom.foundation.database import Database
from strongroom.foundation.limits.backends import prune_events
from strongroom.foundation.plugins.selection import Selection
from strongroom.ops.observability.observers import StorageCallObserver
from strongroom.ops.observability.readiness import Readiness, probes
from strongroom.web.feature import Feature, PruneStep

if TYPE_CHECKING:
    from strongroom.ops.observability.metrics import Metrics


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one process, which routes, commands and the hosts of plugins use."""

    base: Infrastructure
    identity: IdentityServices
    keeping: FileServices
    events: EventServices
    readiness: Readiness
    features: tuple[Feature, ...]

    @property
    def settings(self) -> Settings:
        """The settings the process runs with."""
        return self.base.settings

    @property
    def selection(self) -> Selection:
        """The plugins the process runs with."""
        return self.base.selection

    @property
    def database(self) -> Database:
        """The database of all services."""
        return self.base.database

    def services(self) -> Iterator[object]:
        """Iterate over the services that routes can use."""
        yield self.base.rates
        yield from self.identity.services()
        yield from self.keeping.services()
        yield from (self.events.log, self.events.positions, self.events.delivery, self.readiness)

    def get(self, kind: type[T]) -> T:
        """Return the service of a type."""
        known: dict[type[Any], Any] = {Settings: self.settings, Clock: self.base.clock}
        known |= {type(service): service for service in self.services()}
        service: T = known[kind]
        return service

    def prune_job(self) -> PruneJob:
        """Return the job that removes the expired rows of all features."""
        base = self.base
        steps: dict[str, PruneStep] = {
            "counters": partial(base.counters.prune, base.database),
            "events of rates": partial(prune_events, base.database, base.clock),
        }
        for feature in self.features:
            steps |= feature.register_prune_steps(self.get)
        return PruneJob(steps)

    def register_erasers(self) -> None:
        """Register what removes the data of deleted users and tenants, of the upper features first."""
        for feature in reversed(self.features):
            for erase in feature.register_tenant_erasers(self.get):
                self.keeping.tenant_deletion.on_purge(erase)
            for remove in feature.register_user_erasers(self.get):
                self.identity.deletion.on_deletion(remove)


def assemble(base: Infrastructure, features: tuple[Feature, ...] = FEATURES) -> Services:
    """Create all services, and register the rules of some with others.

    Raises:
        ConfigurationError: a key has a value that cannot be used.
    """
    _require_scans(base, features)
    identity = IdentityServices(base)
    identity.create()
    keeping = FileServices(base, identity)
    keeping.create()
    keeping.register()
    events = assemble_events(base, features)
    _observe_storages(base, keeping)
    services = Services(base, identity, keeping, events, _readiness(base, keeping), features)
    services.register_erasers()
    return services


def _require_scans(base: Infrastructure, features: tuple[Feature, ...]) -> None:
    """Refuse scanners without the feature: files would wait for their scan permanently."""
    is_there = any(isinstance(feature, ScanningFeature) for feature in features)
    if base.selection.scanners and not is_there:
        base.refuse(("scanning", "scanners"), "must be empty, because this server has no scans")


def _readiness(base: Infrastructure, keeping: FileServices) -> Readiness:
    data_dir, storages = base.settings.server.data_dir, keeping.blobs.storages
    readiness = Readiness(probes(data_dir, base.database, base.limits_store, storages), base.clock)
    base.resources.callback(readiness.close)
    return readiness


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
