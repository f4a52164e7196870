"""Features of the core: each declares in its own folder what it adds to the server, as a plugin does.

The hooks have the names of those of plugins. They import what they return, because each process needs
few of them: commands serve no routes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeVar

from strongroom.plugin_api.events import EventType
from strongroom.web.parts import Part

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint
    from strongroom.web.services import ServiceGroup

T = TypeVar("T")

Data = dict[str, Any]


class Record(Protocol):
    """The members of an audit record that events are made from.

    Client addresses, user agents and request ids are missing, so that they stay in the audit log.
    """

    @property
    def actor_id(self) -> str | None: ...

    @property
    def target_type(self) -> str | None: ...

    @property
    def target_id(self) -> str | None: ...

    @property
    def details(self) -> Mapping[str, str]: ...


Convert = Callable[[Record], Data]
"""Returns the data of the event of an audit record."""

Outcome = tuple[str, str]
"""The action and the outcome of audit records."""


@dataclass(frozen=True, slots=True)
class CoreEvent:
    """A type of events, with the audit records that it is made from.

    Args:
        type: the type. Several features may declare one type, with different sources.
        sources: what makes the data. Empty for events of the tenants' streams, which have a table.
    """

    type: EventType
    sources: Mapping[Outcome, Convert]


class Feature(Part):
    """A feature of the core: what it declares without services."""

    blueprints: ClassVar[Sequence[str]] = ()
    """Its routes: each ``module:name``, where the module is in the package of the feature."""

    services: ClassVar[str] = ""
    """The class of its services, likewise."""

    silent_actions: ClassVar[Mapping[Outcome, str]] = {}
    """What it records but does not publish as events, with the reason."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        """Return its routes."""
        return map(self._load, self.blueprints)

    def register_services(self) -> type["ServiceGroup"] | None:
        """Return its services."""
        return self._load(self.services) if self.services else None

    def _load(self, reference: str) -> Any:
        module, _, name = reference.partition(":")
        package = type(self).__module__.rpartition(".")[0]
        return getattr(import_module(f"{package}.{module}"), name)
