"""The services of the instances."""

from collections.abc import Iterable
from functools import cached_property

from strongroom.extensions.observability.clock_skew import ClockSkew
from strongroom.extensions.observability.instances.heartbeat import Heartbeat
from strongroom.extensions.observability.instances.shared_sections import make_digests
from strongroom.extensions.observability.instances.store import InstanceStore
from strongroom.identity.sessions.signing_keys import load_keys
from strongroom.plugin_api.pruning import PruneStep
from strongroom.web.services import ServiceGroup


class InstanceServices(ServiceGroup):
    """The instances."""

    @cached_property
    def instances(self) -> InstanceStore:
        return InstanceStore(self._database, self._clock)

    @cached_property
    def _heartbeat(self) -> Heartbeat:
        settings, base = self._settings, self._base
        ring = load_keys(settings.keys_path, settings.tokens.algorithm)
        sections = make_digests(settings, base.selection.all_sections(settings), ring, base.keys)
        heartbeat = Heartbeat(
            self.instances,
            self._clock,
            settings.server.port,
            sections,
            ClockSkew(self._database, self._clock).ahead_of_database,
        )
        base.resources.callback(heartbeat.close)
        return heartbeat

    def start(self) -> None:
        self._heartbeat.start()

    def register_prune_steps(self) -> Iterable[PruneStep]:
        return [PruneStep("instances", self.instances.prune)]
