"""Contract tests for event sinks and subscribers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

import pytest

from strongroom.plugin_api.events import (
    ACTOR,
    SERVER,
    Event,
    EventSink,
    EventSubscriber,
    EventType,
    matches,
)

if TYPE_CHECKING:
    from strongroom.testing.state import OpenedPlugin

TENANT: Final = "01930000-0000-7000-8000-000000000001"
"""The tenant of the test events."""

_USER: Final = "01930000-0000-7000-8000-000000000003"
_FILE: Final = "01930000-0000-7000-8000-000000000004"
_BEGAN_AT: Final = 1_795_000_000_000
_LARGE_BATCH: Final = 200
_THREADS: Final = 4

_ACTOR: Final = {"$ref": _USER}
_NODE: Final = {
    "fileId": _FILE,
    "parentId": None,
    "name": "Übersicht “Q3”.pdf",
    "revision": _BEGAN_AT,
    "size": 1024,
    "actor": _ACTOR,
}

SAMPLE_DATA: Final[Mapping[str, Mapping[str, Any]]] = {
    "file.created": _NODE,
    "file.deleted": _NODE,
    "file.purged": _NODE,
    "file.moved": {**_NODE, "previousParentId": _FILE},
    "folder.created": {**_NODE, "size": 0},
    "grant.set": {
        "tenantId": TENANT,
        "fileId": _FILE,
        "userId": _USER,
        "permission": "read",
        "actor": _ACTOR,
    },
    "login.failed": {"userId": None, "code": "error.invalid-credentials"},
    "member.added": {"tenantId": TENANT, "userId": _USER, "role": "member", "actor": _ACTOR},
    "tenant.purged": {"tenantId": TENANT, "actor": None},
    "user.registered": {"userId": _USER, "userType": "USER", "actor": _ACTOR},
}
"""Data of some types of events."""


def sample_event(event_type: str = "file.created", sequence: int = 1, tenant: str = TENANT) -> Event:
    """Return an event with data like the core's."""
    data = SAMPLE_DATA[event_type]
    stream = tenant if event_type.startswith(("file.", "folder.")) else SERVER
    return Event(
        id=f"{stream}-{sequence}",
        type=event_type,
        stream=stream,
        sequence=sequence,
        subject=data.get("fileId") or data.get("userId") or data.get("tenantId") or stream,
        tenant_id=tenant if stream == tenant else data.get("tenantId"),
        occurred_at=_BEGAN_AT + sequence,
        data=data,
    )


def sample_events(
    types: Iterable[str], count: int = 10, tenant: str = TENANT, *, first: int = 1
) -> list[Event]:
    """Return events of one stream whose types match, in order.

    Raises:
        ValueError: none of the samples has such a type.
    """
    patterns = list(types)
    matching = [name for name in SAMPLE_DATA if matches(patterns, name)]
    if not matching:
        raise ValueError(f"there are samples of {', '.join(SAMPLE_DATA)} only; override `events`")
    is_of_tenant = matching[0].startswith(("file.", "folder."))
    names = [name for name in matching if name.startswith(("file.", "folder.")) == is_of_tenant]
    return [sample_event(names[number % len(names)], first + number, tenant) for number in range(count)]


Received = Callable[[], Sequence[str]]
"""Returns the ids of the events that the sink's destination has, in the order of their arrival."""


class EventSinkContract:
    """The contract of event sinks.

    Provide the fixtures ``sink``, ``unavailable_sink`` and ``received``. Override ``make_events`` for a
    sink whose types have no samples.
    """

    @pytest.fixture
    def sink(self) -> EventSink:
        """A sink whose destination accepts events."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def unavailable_sink(self) -> EventSink:
        """The same kind of sink, whose destination is unavailable."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    @pytest.fixture
    def received(self) -> Received:
        """A function that returns the ids of the received events, in order."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    def make_events(self, sink: EventSink, count: int, tenant: str = TENANT) -> list[Event]:
        """Return events that the sink receives."""
        return sample_events(sink.types, count, tenant)

    def test_it_has_a_name_and_types(self, sink: EventSink) -> None:
        assert sink.name.replace("_", "a").isalnum()
        assert sink.name == sink.name.lower()
        assert not isinstance(sink.types, str), "types must be a tuple of texts"
        assert sink.types

    def test_it_stores_events_in_their_order(self, sink: EventSink, received: Received) -> None:
        events = self.make_events(sink, 10)
        sink.deliver(events[:1])
        sink.deliver(events[1:])
        assert list(received()) == [event.id for event in events]

    def test_it_stores_a_large_batch(self, sink: EventSink, received: Received) -> None:
        events = self.make_events(sink, _LARGE_BATCH)
        sink.deliver(events)
        assert list(received()) == [event.id for event in events]

    def test_events_are_stored_when_it_returns(self, sink: EventSink, received: Received) -> None:
        for event in self.make_events(sink, 5):
            sink.deliver([event])
            assert received()[-1] == event.id

    def test_a_repeated_delivery_is_no_error(self, sink: EventSink, received: Received) -> None:
        events = self.make_events(sink, 3)
        sink.deliver(events[:2])
        sink.deliver(events)
        assert set(received()) == {event.id for event in events}
        assert received()[-1] == events[-1].id

    def test_streams_are_delivered_concurrently(self, sink: EventSink, received: Received) -> None:
        of_streams = [self.make_events(sink, 20, f"{TENANT[:-1]}{number}") for number in range(_THREADS)]

        def deliver(events: Sequence[Event]) -> None:
            for event in events:
                sink.deliver([event])

        with ThreadPoolExecutor(_THREADS) as threads:
            list(threads.map(deliver, of_streams))
        ids = list(received())
        for events in of_streams:
            of_stream = [event.id for event in events]
            assert [item for item in ids if item in of_stream] == of_stream

    def test_an_unavailable_destination_is_an_error(self, unavailable_sink: EventSink) -> None:
        # Otherwise the core would continue after events that were never stored.
        with pytest.raises(Exception):  # noqa: B017, PT011  any error means that it did not store them
            unavailable_sink.deliver(self.make_events(unavailable_sink, 1))

    def test_it_can_be_closed(self, sink: EventSink) -> None:
        sink.deliver(self.make_events(sink, 1))
        sink.close()


class EventSubscriberContract:
    """The contract of event subscribers. Provide the fixture ``subscriber``.

    Override ``make_events`` for a subscriber to types that have no samples.
    """

    @pytest.fixture
    def subscriber(self) -> EventSubscriber:
        """The subscriber."""
        raise NotImplementedError("the test class of the plugin must provide this fixture")

    def make_events(self, subscriber: EventSubscriber) -> list[Event]:
        """Return an event of each type with samples that the subscriber receives."""
        names = [name for name in SAMPLE_DATA if matches(subscriber.types, name)]
        return [sample_event(name, number) for number, name in enumerate(names, start=1)]

    def test_it_has_a_name_and_types(self, subscriber: EventSubscriber) -> None:
        assert subscriber.name.replace("_", "a").isalnum()
        assert not isinstance(subscriber.types, str), "types must be a tuple of texts"
        assert subscriber.types

    def test_it_handles_each_type(self, subscriber: EventSubscriber) -> None:
        events = self.make_events(subscriber)
        assert events, "there are no samples of its types; override make_events"
        for event in events:
            subscriber.handler(event)

    def test_it_handles_a_repeated_event(self, subscriber: EventSubscriber) -> None:
        # Events are delivered at least once.
        for event in self.make_events(subscriber):
            subscriber.handler(event)
            subscriber.handler(event)


class EventTypesContract:
    """The rules of ``register_event_types``. Requires a fixture ``opened``, as for tables."""

    def test_there_are_types(self, opened: "OpenedPlugin") -> None:
        assert opened.event_types

    def test_each_type_is_in_the_log(self, opened: "OpenedPlugin") -> None:
        known = opened.host.events.types()
        for event_type in opened.event_types.values():
            assert known[event_type.name] == event_type

    def test_each_field_is_described(self, opened: "OpenedPlugin") -> None:
        for event_type in opened.event_types.values():
            assert event_type.description.endswith("."), event_type.name
            for field in event_type.fields:
                assert field.description.strip(), (event_type.name, field.name)
                assert field.schema, (event_type.name, field.name)

    def test_a_record_is_an_event_with_the_fields_of_its_type(self, opened: "OpenedPlugin") -> None:
        stream = opened.host.events
        for action, event_type in opened.event_types.items():
            before = stream.newest(SERVER)
            names = [field.name for field in event_type.fields if field != ACTOR]
            details = {**{name: _SAMPLES[_kind(event_type, name)] for name in names}, "other": "x"}
            opened.host.audit(action, "thing", _FILE, details)
            (event,) = stream.read(SERVER, before)
            assert (event.type, event.subject) == (event_type.name, _FILE)
            assert event.data == {**{name: details[name] for name in names}, ACTOR.name: None}


_SAMPLES: Final[Mapping[str, Any]] = {
    "string": _FILE,
    "integer": 1,
    "number": 1,
    "boolean": True,
    "null": None,
    "array": [],
    "object": {},
}


def _kind(event_type: EventType, name: str) -> str:
    """Return the first JSON type of a field."""
    schema = next(field.schema for field in event_type.fields if field.name == name)
    kind = schema.get("type", "string")
    return str(kind if isinstance(kind, str) else kind[0])
