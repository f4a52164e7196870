"""The container: all services of one process."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import NoReturn

from strongroom.activity.audit.sealing import Sealer
from strongroom.assembly.features import FEATURES, core_events
from strongroom.assembly.infrastructure import Infrastructure
from strongroom.assembly.plugin_host.hosts import PluginHosts, report_threads
from strongroom.assembly.plugin_host.part import plugin_parts
from strongroom.assembly.plugin_host.restoring_page import RestoringPage
from strongroom.assembly.services import Services, assemble
from strongroom.clock import Clock, SystemClock
from strongroom.content.nodes.retention_clock import RetentionClock
from strongroom.extensions.production_checks.checks import refuse_unsafe
from strongroom.foundation.config import Configuration
from strongroom.foundation.jobs.runner import JobRunner
from strongroom.foundation.plugins.plugin import PluginError
from strongroom.foundation.plugins.selection import select
from strongroom.identity.users.change_notices import ChangeNotices
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.metrics import Metric
from strongroom.web.feature import Feature


@dataclass(frozen=True, slots=True)
class Container(Services):
    """The services of one process, with the hosts of its plugins; starts and closes both."""

    hosts: PluginHosts

    def register_event_sinks(self) -> None:
        """Add the event sinks and subscribers of plugins.

        Raises:
            PluginError: a plugin failed, or its sink is invalid.
        """
        types = {*core_events().types, *self.events.log.types()}
        for sink in self.registry.event_sinks(types):
            self.events.delivery.add(sink)

    def register_metrics(self) -> Mapping[str, Metric]:
        """Record the metrics of plugins from now on, and return them by name.

        Raises:
            PluginError: a plugin failed, or its metric is invalid.
        """
        metrics = self.registry.metrics()
        if self.base.metrics is not None:
            # Imported here to save time when there are no metrics.
            from strongroom.extensions.observability.plugin_metrics import record_in, taken_name

            if taken := taken_name(self.base.metrics, metrics):
                raise PluginError(f"the core has a metric of the name {taken}; rename the plugin's")
            record_in(self.base.metrics.registry, metrics)
        return metrics

    def jobs(self) -> Mapping[str, Job]:
        """Return the recurring jobs of the core and of plugins by name.

        Raises:
            PluginError: a plugin cannot register its jobs.
        """
        return self.registry.jobs

    def job_runner(self, jobs: Mapping[str, Job]) -> JobRunner:
        """Return a runner of jobs in this process."""
        observe = self.base.metrics.job_run if self.base.metrics else None
        return JobRunner(self.job_leases, jobs, self.base.clock, observe)

    def on_queue_wait(self, queue: str, seconds: float) -> None:
        """Record how long a request waited for a thread."""
        if self.base.metrics is not None:
            self.base.metrics.queue_wait(queue, seconds)

    def start(self) -> None:
        """Start what runs in serving processes only; :meth:`close` stops it first.

        Raises:
            PluginError: a plugin cannot start, or cannot register its jobs.
        """
        # Before requests: the retention that is configured applies from now on.
        self.get(RetentionClock).begin()
        parts, jobs = self.registry.life_cycle(), self.job_runner(self.jobs())
        parts.start()
        self.base.resources.callback(parts.stop)
        sealer = Sealer(self.database)
        sealer.start()
        self.base.resources.callback(sealer.stop)
        # Stopped before the plugins, whose sinks it calls.
        self.events.delivery.start()
        self.base.resources.callback(self.events.delivery.close)
        jobs.start()
        self.base.resources.callback(jobs.stop)

    def close(self) -> None:
        """Close connections and extensions, and report what plugins leave running."""
        self.base.resources.close()
        report_threads(self.hosts.plugins)


def build(
    configuration: Configuration,
    clock: Clock | None = None,
    *,
    patient: bool = False,
    read_only: bool = False,
    features: tuple[Feature, ...] = FEATURES,
) -> Container:
    """Create the services of a process.

    Args:
        clock: the source of timestamps; the system clock by default.
        patient: disable the time limit of database statements, for long-running commands.
        read_only: write nothing: neither files nor rows.

    Raises:
        ConfigurationError: the configuration is invalid or unsafe.
    """
    selection = select(configuration)
    refuse_unsafe(configuration, selection)
    # If the assembly fails, the stack closes everything opened so far. On success, pop_all moves the
    # resources to the container, which closes them later.
    with ExitStack() as resources:
        base = Infrastructure(
            configuration,
            selection,
            clock or SystemClock(),
            resources,
            patient=patient,
            read_only=read_only,
        )
        assembled: list[Services] = []
        hosts = PluginHosts(
            base.settings,
            selection.plugins,
            selection.options,
            base.clock,
            lambda: assembled[0] if assembled else _refuse_early(),
        )
        base.attach = hosts.attach
        services = assemble(base, features, plugin_parts(hosts))
        assembled.append(services)
        services.get(ChangeNotices).on_restoring_page(RestoringPage(hosts, base.settings))
        container = Container(
            base,
            features,
            services.group,
            services.events,
            services.known,
            services.registry,
            hosts,
        )
        base.resources = resources.pop_all()
        return container


def _refuse_early() -> NoReturn:
    raise RuntimeError("the server has no services yet; attach() keeps the host, and uses no data")
