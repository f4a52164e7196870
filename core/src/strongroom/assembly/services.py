"""Assembles the services of a process, except for those of plugins."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strongroom.assembly.events import EventServices, assemble_events, prune_event_steps
from strongroom.assembly.files import FileServices
from strongroom.assembly.identity import IdentityServices
from strongroom.assembly.infrastructure import Infrastructure
from strongroom.foundation.config import Settings
from strongroom.foundation.database import Database
from strongroom.foundation.plugins.selection import Selection
from strongroom.ops.observability.observers import StorageCallObserver
from strongroom.ops.observability.readiness import Readiness, probes

if TYPE_CHECKING:
    from strongroom.ops.observability.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one process, which routes, commands and the hosts of plugins use."""

    base: Infrastructure
    identity: IdentityServices
    keeping: FileServices
    events: EventServices
    readiness: Readiness

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


def assemble(base: Infrastructure) -> Services:
    """Create all services, and register the rules of some with others.

    Raises:
        ConfigurationError: a key has a value that cannot be used.
    """
    identity = IdentityServices(base)
    identity.create()
    identity.register()
    keeping = FileServices(base, identity)
    keeping.create()
    keeping.register()
    events = assemble_events(base)
    identity.prune_job.add(prune_event_steps(base, events))
    _observe_storages(base, keeping)
    return Services(base, identity, keeping, events, _readiness(base, keeping))


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
