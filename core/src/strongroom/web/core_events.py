"""Events of the core: their types, and the audit records that they are made from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from strongroom.plugin_api.events import EventType

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
