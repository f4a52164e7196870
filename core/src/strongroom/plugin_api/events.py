"""Events: what happened in the server, delivered to plugins after it was committed.

An event is written in the transaction of the change that it describes. So there is an event for each
change, and none for a change that was rolled back. A sink or a subscriber receives it at least once, in
the order of its stream::

    @hookimpl
    def register_event_subscribers(host: HostAPI) -> list[EventSubscriber]:
        return [EventSubscriber("thumbnails", ("file.created", "file.replaced"), make_thumbnail)]
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

SERVER: Final = "server"
"""The stream of users, logins, permissions, tenants and members. Each tenant's files have a stream of
their own, whose name is the tenant's id."""


@dataclass(frozen=True, slots=True)
class EventField:
    """A member of an event's data.

    Args:
        name: the name in JSON.
        description: the meaning, in one sentence.
        schema: the JSON Schema of the value.
        is_required: whether every event of the type has it.
    """

    name: str
    description: str
    schema: Mapping[str, Any]
    is_required: bool = True


@dataclass(frozen=True, slots=True, repr=False)
class EventType:
    """A type of events.

    Args:
        name: the name, such as ``file.created``.
        description: what happened, in one sentence.
        fields: the members of the data.
        is_of_tenant_stream: whether its events are in the tenants' streams, not in :data:`SERVER`.
    """

    name: str
    description: str
    fields: Sequence[EventField]
    is_of_tenant_stream: bool

    def __post_init__(self) -> None:
        """Add :data:`ON_BEHALF_OF` to types with :data:`ACTOR`."""
        if ACTOR in self.fields and ON_BEHALF_OF not in self.fields:
            object.__setattr__(self, "fields", (*self.fields, ON_BEHALF_OF))

    def __repr__(self) -> str:
        # Messages of faults have it; its fields with their schemas would fill a page.
        return f"EventType({self.name!r})"

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of :meth:`Event.json`."""
        data = {
            "type": "object",
            "properties": {
                item.name: {**item.schema, "description": item.description} for item in self.fields
            },
            "required": [item.name for item in self.fields if item.is_required],
        }
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": self.name,
            "description": self.description,
            "type": "object",
            "properties": {
                "type": {"const": self.name},
                "timestamp": {"type": "string", "format": "date-time"},
                "data": data,
            },
            "required": ["type", "timestamp", "data"],
        }


@dataclass(frozen=True, slots=True)
class AuditedEvent:
    """The event of what a plugin records by :meth:`~strongroom.plugin_api.host.HostAPI.audit`.

    It is in the stream :data:`SERVER`. Its data are ``actor``, and the members of the record's details
    that are fields of the type. A field ``tenantId`` assigns it to a tenant.

    Args:
        action: the action, as for ``host.audit``, or the reason of a
            :class:`~strongroom.plugin_api.factors.FactorAlarm`, whose details have ``userId``.
        type: the type; its name begins with a word that no type of the core begins with.
    """

    action: str
    type: EventType


ACTOR: Final = EventField(
    "actor",
    "The user who acted, or null for the server itself",
    {
        "type": ["object", "null"],
        "properties": {"$ref": {"type": "string"}},
        "required": ["$ref"],
    },
)
"""The field with the user who acted, which each :class:`AuditedEvent` has."""

ON_BEHALF_OF: Final = EventField(
    "onBehalfOf",
    "The impersonated user; the actor is then an administrator",
    {"type": "object", "properties": {"$ref": {"type": "string"}}, "required": ["$ref"]},
    is_required=False,
)
"""The field that each type with :data:`ACTOR` has, too. Events outside an impersonation lack it."""


@dataclass(frozen=True, slots=True)
class Event:
    """A change that was committed.

    Args:
        id: identifies the event; equal at every delivery, so receivers can ignore repetitions. It
            consists of letters, digits and hyphens.
        type: the type, such as ``file.created``; see the reference of events.
        stream: :data:`SERVER`, or the id of a tenant.
        sequence: the position in the stream. A later event of a stream has a higher one.
        subject: the id of the file, folder, user, tenant or login that changed.
        tenant_id: the tenant, for events about files, folders, tenants, members and permissions.
        occurred_at: milliseconds since the Unix epoch.
        data: JSON values: ids, names and revisions. It contains no secrets, e-mail addresses, mobile
            numbers or network addresses.
        traceparent: the span that caused the event, if its request was traced; see
            :mod:`strongroom.plugin_api.tracing`.
    """

    id: str
    type: str
    stream: str
    sequence: int
    subject: str
    tenant_id: str | None
    occurred_at: int
    data: Mapping[str, Any] = field(repr=False)
    traceparent: str | None = field(default=None, repr=False, compare=False)

    @property
    def timestamp(self) -> str:
        """When it occurred: ISO 8601 in UTC, with milliseconds."""
        seconds, rest = divmod(self.occurred_at, 1000)
        return f"{datetime.fromtimestamp(seconds, tz=UTC):%Y-%m-%dT%H:%M:%S}.{rest:03d}Z"

    def json(self) -> bytes:
        """Return ``{"type", "timestamp", "data"}`` as compact JSON: the body of Standard Webhooks."""
        body = {"type": self.type, "timestamp": self.timestamp, "data": self.data}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


class EventRejected(Exception):
    """The events of a delivery are unacceptable, and would be at every further attempt.

    The core delivers them one by one to find the unacceptable ones. It stores these as dead letters,
    which ``strongroom doctor`` reports, and continues with the next event.
    """


class EventSink(ABC):
    """Receives events, such as to pass them on to a message queue.

    Each sink has its own position in each stream, which is stored under its name. A sink whose name is
    new starts with the events that are committed from then on.

    One process at a time delivers the events of a stream to a sink. The events of different streams may
    be delivered concurrently, by several processes.
    """

    name: str
    """A unique name: lowercase letters, digits and underscores. It must not change."""

    types: Sequence[str] = ("*",)
    """The types to receive: names such as ``file.created``, groups such as ``file.*``, or ``*``."""

    @abstractmethod
    def deliver(self, events: Sequence[Event]) -> None:
        """Accept events of one stream, in their order.

        Return when all of them are stored safely. After an exception, the same events are delivered
        again, with a growing delay, possibly by another process and with more events after them. After
        20 failed attempts an event becomes a dead letter. Return within 30 seconds, because another
        process may then deliver the same events.

        No transaction is open, so the sink may use its own tables.

        Raises:
            EventRejected: the events are unacceptable, so that another attempt is useless.
        """

    def close(self) -> None:  # noqa: B027  a sink without resources need not implement it
        """Release the resources of the sink, when its process ends."""


@dataclass(frozen=True, slots=True)
class EventSubscriber:
    """A function that is called for each event of some types, in the order of their stream.

    Delivery is as for an :class:`EventSink`: at least once, and again after an exception.

    Args:
        name: a name that is unique in the plugin: lowercase letters, digits and underscores.
        types: the types to receive, as in :attr:`EventSink.types`.
        handler: called in a thread of the core; may raise :class:`EventRejected`.
    """

    name: str
    types: Sequence[str]
    handler: Callable[[Event], None]


class EventLog(ABC):
    """The recorded events, and their types."""

    @abstractmethod
    def types(self) -> Mapping[str, EventType]:
        """Return all types of events by name."""

    @abstractmethod
    def read(self, stream: str, after: int, limit: int = 100) -> Sequence[Event]:
        """Return events of a stream in order, from the one after the sequence ``after``.

        Events older than the retention period are missing. Fewer than ``limit`` events are returned only
        if there are no more.
        """

    @abstractmethod
    def newest(self, stream: str) -> int:
        """Return the sequence of the newest event of a stream, or 0 if it has none."""


def matches(patterns: Iterable[str], event_type: str) -> bool:
    """Return whether a type is one of the patterns: a name, a group such as ``file.*``, or ``*``."""
    group = f"{event_type.partition('.')[0]}.*"
    return any(pattern in (event_type, group, "*") for pattern in patterns)
