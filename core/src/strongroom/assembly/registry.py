"""The registry: what features of the core and plugins add to a server, collected and checked."""

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, TypeVar

from strongroom.activity.events.catalogue import EventCatalogue
from strongroom.plugin_api.audit import AuditSentence
from strongroom.plugin_api.events import EventSink, matches
from strongroom.plugin_api.jobs import Job
from strongroom.plugin_api.metrics import Metric
from strongroom.plugin_api.pruning import PruneStep
from strongroom.plugin_api.resources import ResourceKind
from strongroom.web.core_events import CoreEvent
from strongroom.web.parts import Part

logger = logging.getLogger(__name__)

T = TypeVar("T")

CORE: Final = "core"
"""What the names of the core's jobs begin with, as a plugin's begin with its name."""


@dataclass(eq=False, repr=False)
class Collected(Generic[T]):
    """Items that the hooks of parts return. The hooks are called when it is first iterated."""

    _collect: Callable[[], Iterable[T]]

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    @cached_property
    def _items(self) -> Sequence[T]:
        return tuple(self._collect())


class Registry:
    """What the parts of a server add to it. A hook of a part is called once, at the first use.

    Args:
        core: the features of the core and their services.
        plugins: the plugins in the order of ``plugins.enabled``.
    """

    def __init__(self, core: Iterable[Part], plugins: Iterable[Part]) -> None:
        self._core = tuple(core)
        self._plugins = tuple(plugins)
        self._parts = (*self._core, *self._plugins)
        # Of upper parts first, because they refer to what those below them store.
        upper = self._parts[::-1]
        self.tenant_erasers = Collected(
            lambda: [item for part in upper for item in part.register_tenant_erasers()]
        )
        self.file_erasers = Collected(
            lambda: [(part.prefix, item) for part in upper for item in part.register_file_erasers()]
        )
        self.deactivations = Collected(
            lambda: [item for part in upper for item in part.register_deactivations()]
        )
        self.login_conditions = Collected(
            lambda: [item for part in self._parts for item in part.register_login_conditions()]
        )
        self.address_owners = Collected(
            lambda: [item for part in self._parts for item in part.register_address_owners()]
        )
        self.user_exports = Collected(
            lambda: [item for part in self._parts for item in part.register_user_exports()]
        )

    def events(self) -> EventCatalogue:
        """Return the types of events, and the audit records that they are made from.

        Raises:
            PluginError: a plugin has a type or an action of the core.
        """
        core = EventCatalogue(_events(self._core))
        for part in self._plugins:
            require_own_events(core, part)
        return EventCatalogue(_events(self._parts))

    @cached_property
    def jobs(self) -> Mapping[str, Job]:
        """The recurring jobs by name, such as ``core.prune``.

        Raises:
            PluginError: a plugin failed, returned something else, or has two jobs of one name.
        """
        return self._named(
            "job",
            lambda part: ((f"{part.prefix or CORE}.{job.name}", job) for job in part.register_jobs()),
        )

    @cached_property
    def prune_steps(self) -> Mapping[str, PruneStep]:
        """What removes expired rows by name, such as ``captchas`` or ``webhooks.deliveries``.

        Raises:
            PluginError: as :attr:`jobs`.
        """
        return self._named(
            "prune step",
            lambda part: ((_prefixed(part, step), step) for step in part.register_prune_steps()),
        )

    @cached_property
    def audit_sentences(self) -> Mapping[str, AuditSentence]:
        """What people read about audit records, by their actions, such as ``webhooks.endpoint-test``.

        Raises:
            PluginError: as :attr:`jobs`.
        """
        return self._named(
            "audit sentence",
            lambda part: (
                (f"{part.prefix}.{item.action}", item) for item in part.register_audit_sentences()
            ),
        )

    @cached_property
    def resource_kinds(self) -> Sequence[ResourceKind]:
        """The kinds of resources that a file may declare, each after its parent.

        Raises:
            PluginError: as :attr:`jobs`, or a kind has an unknown parent.
        """
        kinds: dict[str, ResourceKind] = {}
        for part in self._parts:
            for kind in part.register_resource_kinds():
                if kind.place in kinds:
                    part.refuse(f'has a second kind of resources of the name "{kind.place}"')
                if kind.parent and kind.parent not in kinds:
                    part.refuse(f'has resources "{kind.name}" below the unknown "{kind.parent}"')
                kinds[kind.place] = kind
        return tuple(kinds.values())

    def metrics(self) -> Mapping[str, Metric]:
        """Call the hooks of metrics; return the metrics by name, such as ``strongroom_acme_imports``.

        Raises:
            PluginError: as :attr:`jobs`.
        """
        return self._named(
            "metric",
            lambda part: (
                (f"strongroom_{part.prefix}_{metric.name}", metric) for metric in part.register_metrics()
            ),
        )

    def event_sinks(self, types: Collection[str]) -> Iterable[EventSink]:
        """Return the event sinks.

        Args:
            types: the names of all types of events.

        Raises:
            PluginError: as :attr:`jobs`, or a sink receives events of an unknown type.
        """

        def checked(part: Part) -> Iterator[tuple[str, EventSink]]:
            for sink in part.register_event_sinks():
                _require_known(part, sink.types, types)
                yield sink.name, sink

        return self._named("event sink", checked).values()

    def require_valid(self) -> None:
        """Call the hooks whose results a server may need later, so that a fault prevents its start.

        Raises:
            PluginError: as :attr:`jobs`.
        """
        for items in (
            self.jobs,
            self.prune_steps,
            self.tenant_erasers,
            self.file_erasers,
            self.deactivations,
            self.login_conditions,
            self.address_owners,
            self.user_exports,
            self.resource_kinds,
            self.audit_sentences,
        ):
            iter(items)

    def blueprints(self) -> Iterator[tuple[Part, Any]]:
        """Iterate over the routes, each with its part.

        Raises:
            PluginError: a plugin failed.
        """
        for part in self._parts:
            for blueprint in part.register_blueprints():
                yield part, blueprint

    def plugin(self, name: str) -> Part:
        """Return the part of an enabled plugin."""
        return next(part for part in self._plugins if part.prefix == name)

    def life_cycle(self) -> "LifeCycle":
        """Return the life cycle of all parts. Plugins start first, because the core uses them."""
        return LifeCycle((*self._plugins, *self._core))

    def life_cycle_of_plugins(self) -> "LifeCycle":
        """Return the life cycle of the plugins alone."""
        return LifeCycle(self._plugins)

    def _named(self, kind: str, collect: Callable[[Part], Iterable[tuple[str, T]]]) -> Mapping[str, T]:
        items: dict[str, T] = {}
        for part in self._parts:
            for name, item in collect(part):
                if name in items:
                    part.refuse(f'has a second {kind} of the name "{name}"')
                items[name] = item
        return items


class LifeCycle:
    """Starts and stops parts, once each.

    They start in their order and stop in the reverse order. Only a part that has started is stopped.
    """

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = tuple(parts)
        self._started: list[Part] = []

    def start(self) -> None:
        """Start all parts.

        Raises:
            PluginError: a plugin raised; those before it have been stopped again.
        """
        for part in self._parts:
            try:
                part.start()
            except Exception:
                self.stop()
                raise
            self._started.append(part)

    def stop(self) -> None:
        """Stop the parts that have started; failures are logged and do not propagate."""
        while self._started:
            part = self._started.pop()
            try:
                part.stop()
            except Exception as error:
                logger.exception("%s", error)  # noqa: TRY401  names the plugin and the hook


def require_own_events(core: EventCatalogue, part: Part) -> None:
    """Refuse a plugin whose types of events begin with a word of the core's, or have its actions.

    Raises:
        PluginError: as described.
    """
    words = {name.partition(".")[0] for name in core.types}
    for event in part.register_event_types():
        if (word := event.type.name.partition(".")[0]) in words:
            rule = f'"{word}" begins types of the core; begin it with another word'
            part.refuse(f'has the type of events "{event.type.name}": {rule}')
        if taken := event.sources.keys() & core.sources.keys():
            part.refuse(f'has an event of the action "{min(taken)[0]}" of the core')


def _events(parts: Iterable[Part]) -> Iterator[CoreEvent]:
    for part in parts:
        yield from part.register_event_types()


def _prefixed(part: Part, step: PruneStep) -> str:
    return f"{part.prefix}.{step.name}" if part.prefix else step.name


def _require_known(part: Part, patterns: Sequence[str], types: Collection[str]) -> None:
    # A single text would be a sequence of letters, and no letter matches.
    if isinstance(patterns, str) or not patterns:
        part.refuse('has an event sink whose types must be a tuple such as ("file.*",)')
    for pattern in patterns:
        if not any(matches([pattern], name) for name in types):
            part.refuse(
                f'receives no events "{pattern}", which do not exist; see the reference of events'
            )
