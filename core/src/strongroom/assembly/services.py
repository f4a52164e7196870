"""Assembles the services of a process, except for those of plugins."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from strongroom.assembly.events import EventServices, assemble_events
from strongroom.assembly.features import FEATURES
from strongroom.assembly.infrastructure import Infrastructure, PruneJob
from strongroom.clock import Clock
from strongroom.content.scanning.feature import ScanningFeature
from strongroom.content.storage.services import StorageServices
from strongroom.content.storage.stores import Stores
from strongroom.content.tenants.deletion import TenantDeletion
from strongroom.content.tenants.user_exports import tenants_of_member
from strongroom.extensions.own_data.exports import OwnExports
from strongroom.foundation.config import Settings
from strongroom.foundation.database import Database
from strongroom.foundation.jobs.leases import JobLeases
from strongroom.foundation.limits.backends import prune_events
from strongroom.foundation.plugins.selection import Selection
from strongroom.identity.accounts.deactivation import Deactivations
from strongroom.ops.observability.observers import StorageCallObserver
from strongroom.ops.observability.readiness import Readiness, probes
from strongroom.plugin_api.exports import UserExport
from strongroom.plugin_api.jobs import Job, JobRun
from strongroom.web.feature import Feature
from strongroom.web.services import Groups, PruneStep

if TYPE_CHECKING:
    from strongroom.ops.observability.metrics import Metrics


T = TypeVar("T")

PREFIX: Final = "core"
"""What the names of the core's jobs begin with, as those of a plugin begin with its name."""


@dataclass(frozen=True, slots=True)
class Services:
    """The services of one process, which routes, commands and the hosts of plugins use."""

    base: Infrastructure
    features: tuple[Feature, ...]
    group: Groups
    events: EventServices
    known: dict[type[Any], Any]
    """The services that routes can use, by their types."""

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
        """Return the job that removes the expired rows of all features."""
        base = self.base
        steps: dict[str, PruneStep] = {
            "counters": partial(base.counters.prune, base.database),
            "leases of plugins": base.leases.prune,
            "shared values of plugins": base.shared_values.prune,
            "idempotency keys": base.idempotency.prune,
            "events of rates": partial(prune_events, base.database, base.clock),
        }
        for group in self.group:
            steps |= group.register_prune_steps()
        return PruneJob(steps)

    @property
    def job_leases(self) -> JobLeases:
        """The rows of all jobs."""
        return JobLeases(self.database, self.base.clock)

    def core_jobs(self) -> dict[str, Job]:
        """Return the recurring jobs of the core by their names, such as ``core.prune``."""
        jobs = [Job("prune", timedelta(days=1), lambda run: _prune(self.prune_job(), run))]
        for group in self.group:
            jobs += group.register_jobs()
        return {f"{PREFIX}.{job.name}": job for job in jobs}

    def register_endings(self) -> None:
        """Register what ends with users and tenants, of the upper features first."""
        for group in reversed([*self.group]):
            for erase in group.register_tenant_erasers():
                self.get(TenantDeletion).on_purge(erase)
            for end in group.register_deactivations():
                self.get(Deactivations).on_deactivation(end)
        self.get(Deactivations).on_deactivation(self.base.idempotency.forget_user)

    def register_user_exports(self, of_plugins: Iterable[UserExport]) -> None:
        """Register the files of users' archives, in the order of the features, then those of plugins."""
        exports = self.get(OwnExports)
        exports.read_tenants_by(tenants_of_member(self.database))
        for group in self.group:
            exports.add(group.register_user_exports())
        exports.add(of_plugins)


def assemble(base: Infrastructure, features: tuple[Feature, ...] = FEATURES) -> Services:
    """Create all services, and register the rules of some with others.

    Raises:
        ConfigurationError: a key has a value that cannot be used.
    """
    _require_scans(base, features)
    group = Groups(base, [kind for feature in features if (kind := feature.register_services())])
    services = Services(base, features, group, assemble_events(base, group, features), {})
    services.known.update({Settings: base.settings, Clock: base.clock})
    services.known.update((type(service), service) for service in services.create())
    for item in group:
        item.connect()
    services.register_endings()
    return services


def _prune(steps: PruneJob, run: JobRun) -> None:
    for _ in steps.run():
        if run.should_stop:
            return


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
