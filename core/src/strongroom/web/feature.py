"""Features of the core: each declares in its own folder what it adds to the server, as a plugin does.

The hooks have the same names as the plugins' hooks. They import their results, because a process needs
few of them: commands serve no routes.
"""

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from strongroom.plugin_api.resources import ResourceKind
from strongroom.web.core_events import Outcome
from strongroom.web.parts import Part

if TYPE_CHECKING:
    from strongroom.web.http.routing import Blueprint
    from strongroom.web.services import ServiceGroup


class Feature(Part):
    """A feature of the core: what it declares without services."""

    blueprints: ClassVar[Sequence[str]] = ()
    """Its routes: each ``module:name``, where the module is in the package of the feature."""

    services: ClassVar[str] = ""
    """The class of its services, likewise."""

    resource_kinds: ClassVar[str] = ""
    """The kinds of resources that a file may declare, likewise."""

    silent_actions: ClassVar[Mapping[Outcome, str]] = {}
    """What it records but does not publish as events, with the reason."""

    def register_blueprints(self) -> Iterable["Blueprint"]:
        """Return its routes."""
        return map(self._load, self.blueprints)

    def register_services(self) -> type["ServiceGroup"] | None:
        """Return its services."""
        return self._load(self.services) if self.services else None

    def register_resource_kinds(self) -> Iterable[ResourceKind]:
        """Return the kinds of resources that a file may declare."""
        return self._load(self.resource_kinds) if self.resource_kinds else ()

    def _load(self, reference: str) -> Any:
        module, _, name = reference.partition(":")
        package = type(self).__module__.rpartition(".")[0]
        return getattr(import_module(f"{package}.{module}"), name)
