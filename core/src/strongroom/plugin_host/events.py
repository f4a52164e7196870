"""The log of events for plugins."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from strongroom.plugin_api.events import Event, EventLog, EventType

if TYPE_CHECKING:
    from strongroom.container.services import Container


class HostEvents(EventLog):
    """The log of a process, opened when it is first read."""

    def __init__(self, services: Callable[[], "Container"]) -> None:
        self._services = services

    def types(self) -> Mapping[str, EventType]:
        return self._services().events.log.types()

    def read(self, stream: str, after: int, limit: int = 100) -> Sequence[Event]:
        return self._services().events.log.read(stream, after, limit)

    def newest(self, stream: str) -> int:
        return self._services().events.log.newest(stream)
