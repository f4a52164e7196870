"""Assembles the services of a process, except for the plugins' services."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from strongroom.activity.events.catalogue import EventCatalogue
from strongroom.assembly.events import EventServices, assemble_events
from strongroom.assembly.features import FEATURES
from strongroom.assembly.infrastructure import Infrastructure
from strongroom.assembly.pruning import PruneJob
from strongroom.assembly.registry import Registry
from strongroom.clock import Clock
from strongroom.content.nodes.file_erasers import FileErasers
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.content.storage.services import StorageServices
from strongroom.content.storage.stores import Stores
from strongroom.content.tenants.tenant_deletions import TenantDeletion
from strongroom.content.tenants.user_exports import tenants_of_member
from strongroom.extensions.observability.observers import StorageCallObserver
from strongroom.extensions.observability.readiness import Readiness, probes
from strongroom.extensions.own_data.own_exports import OwnExports
from strongroom.extensions.provisioning.address_owners import AddressOwners
from strongroom.foundation.config import Settings
from strongroom.foundation.database import Database
from strongroom.foundation.jobs.leases import JobLeases
from strongroom.foundation.limits.backends import prune_events
from strongroom.foundation.plugins.plugin import PluginError
from strongroom.foundation.plugins.selection import Selection, add_plugin_error
from strongroom.identity.accounts.deactivation import Deactivations
from strongroom.identity.sessions.registered_conditions import RegisteredConditions
from strongroom.plugin_api.jobs import Job, JobRun
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.feature import Feature
from strongroom.web.parts import Part, UserEnding
from strongroom.web.services import Groups

if TYPE_CHECKING:
    from strongroom.extensions.observability.metrics import Metrics


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one process, which routes, commands and the hosts of plugins use."""

    base: Infrastructure
    features: tuple[Feature, ...]
    group: Groups
    events: EventServices
    known: dict[type[Any], Any]
    """The services that routes can use, by their types."""
    registry: Registry
    """What features and plugins add."""

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

    def get(self, kind: type[T]) -> T:
        """Return the service of a type."""
        service: T = self.known[kind]
        return service

    def create(self) -> Iterator[object]:
        """Create all services, so that a fault of the configuration prevents the start.

        Raises:
            ConfigurationError: a key has a value that cannot be used.
        """
        yield from self.group.services()
        storages = self.group(StorageServices).blobs.storages
        _observe_storages(self.base, storages)
        events = self.events
        yield from (self.base.rates, self.base.idempotency, events.log, events.delivery)
        yield _readiness(self.base, storages)

    def prune_job(self) -> PruneJob:
        """Return the job that removes the expired rows of all features and plugins."""
        return PruneJob(self.registry.prune_steps)

    @property
    def job_leases(self) -> JobLeases:
        """The rows of all jobs."""
        return JobLeases(self.database, self.base.clock)

    def _register_endings(self) -> None:
        """Register what ends with users and tenants, and what users may export."""
        self.get(TenantDeletion).erase_by(self.registry.tenant_erasers)
        self.get(FileErasers).erase_by(self.registry.file_erasers)
        self.get(Deactivations).end_by(self.registry.deactivations)
        self.get(RegisteredConditions).check_by(self.registry.login_conditions)
        self.get(AddressOwners).find_by(self.registry.address_owners)
        exports = self.get(OwnExports)
        exports.read_tenants_by(tenants_of_member(self.database))
        exports.write_by(self.registry.user_exports)


@dataclass(slots=True, eq=False, repr=False)
class _BasePart(Part):
    """What the infrastructure adds to a server."""

    _base: Infrastructure
    _prune: Callable[[JobRun], None]

    def register_jobs(self) -> Iterable[Job]:
        return [Job("prune", timedelta(days=1), self._prune)]

    def register_prune_steps(self) -> Iterable[PruneStep]:
        base = self._base
        return [
            PruneStep("counters", partial(base.counters.prune, base.database)),
            PruneStep("leases of plugins", base.leases.prune),
            PruneStep("shared values of plugins", base.shared_values.prune),
            PruneStep("idempotency keys", base.idempotency.prune),
            PruneStep("events of rates", partial(prune_events, base.database, base.clock)),
        ]

    def register_deactivations(self) -> Iterable[UserEnding]:
        return [self._base.idempotency.forget_user]


def assemble(
    base: Infrastructure, features: tuple[Feature, ...] = FEATURES, plugins: Iterable[Part] = ()
) -> Services:
    """Create all services, and register the rules of some with others.

    Raises:
        ConfigurationError: a key has a value that cannot be used.
    """
    _require_scans(base, features)
    group = Groups(base, [kind for feature in features if (kind := feature.register_services())])
    groups = [*group]
    own = _BasePart(base, lambda run: services.prune_job().run_job(run))
    registry = Registry([own, *features, *groups], plugins)
    services = Services(
        base, features, group, assemble_events(base, group, _catalogue(base, registry)), {}, registry
    )
    services.known.update({Settings: base.settings, Clock: base.clock})
    services.known.update((type(service), service) for service in services.create())
    for item in groups:
        item.connect()
    services._register_endings()  # noqa: SLF001
    return services


def _catalogue(base: Infrastructure, registry: Registry) -> EventCatalogue:
    try:
        return registry.events()
    except PluginError as error:
        add_plugin_error(base.configuration, error)
        base.configuration.raise_if_invalid()
        raise


def _require_scans(base: Infrastructure, features: tuple[Feature, ...]) -> None:
    """Refuse scanners without the feature: files would wait for their scan permanently."""
    is_there = any(isinstance(feature, ScanningFeature) for feature in features)
    if base.selection.scanners and not is_there:
        base.refuse(("scanning", "scanners"), "must be empty, because this server has no scans")


def _readiness(base: Infrastructure, storages: Stores) -> Readiness:
    data_dir = base.settings.server.data_dir
    readiness = Readiness(probes(data_dir, base.database, base.limits_store, storages), base.clock)
    base.resources.callback(readiness.close)
    return readiness


def _observe_storages(base: Infrastructure, storages: Stores) -> None:
    observer = StorageCallObserver(base.metrics)
    for name, store in storages.items():
        store.observe = observer if base.is_observed else None
        if base.metrics is None:
            continue
        store.circuit.observe = partial(_note_circuit, base.metrics, name)
        _note_circuit(base.metrics, name, is_open=False)


def _note_circuit(metrics: "Metrics", storage: str, is_open: bool) -> None:
    metrics.circuit(storage, is_open=is_open)
