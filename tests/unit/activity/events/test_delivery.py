"""Delivery of events: at least once, in order, by one process at a time, and dead letters."""

from collections.abc import Sequence

import pytest
from tests.support.api import Api
from tests.support.scene import Scene

from strongroom.activity.events.delivery import MAX_ATTEMPTS, RETRIES, EventDelivery, SubscriberSink
from strongroom.activity.events.positions import LEASE, Positions
from strongroom.plugin_api.events import Event, EventRejected, EventSink, EventSubscriber

pytestmark = pytest.mark.both_databases


class Receiver(EventSink):
    """A sink that keeps what it accepts."""

    def __init__(self, name: str = "receiver", types: Sequence[str] = ("file.*", "folder.*")) -> None:
        self.name = name
        self.types = types
        self.accepted: list[Event] = []
        self.calls: list[list[str]] = []
        self.fails = 0
        self.rejected: set[str] = set()

    @property
    def names(self) -> list[str]:
        return [event.data["name"] for event in self.accepted]

    def deliver(self, events: Sequence[Event]) -> None:
        self.calls.append([event.id for event in events])
        if self.fails:
            self.fails -= 1
            raise OSError("the queue is unavailable")
        if any(event.data.get("name") in self.rejected for event in events):
            raise EventRejected
        self.accepted += events


def delivery_of(api: Api, *sinks: EventSink) -> EventDelivery:
    """Return the delivery of one process, whose sinks start now."""
    base, log = api.container.base, api.container.events.log
    delivery = EventDelivery(base.database, log, Positions(base.database, api.clock), api.clock)
    for sink in sinks:
        delivery.add(sink)
    delivery.deliver_all()
    return delivery


def test_a_new_sink_gets_what_is_committed_from_then_on(scene: Scene) -> None:
    scene.file("before")
    receiver = Receiver()
    delivery = delivery_of(scene.api, receiver)
    assert receiver.calls == []
    scene.file("after")
    delivery.deliver_all()
    delivery.deliver_all()
    assert receiver.names == ["after"]


def test_an_event_names_what_changed(scene: Scene) -> None:
    receiver = Receiver()
    delivery = delivery_of(scene.api, receiver)
    folder = scene.folder("folder", by=scene.alice)
    file = scene.file("file", by=scene.alice)
    moved = scene.api.put(
        f"{scene.path}/files/{file['id']}/directory", {"parentId": folder["id"]}, by=scene.alice
    )
    delivery.deliver_all()
    made, created, event = receiver.accepted
    assert (made.type, created.type, event.type) == ("folder.created", "file.created", "file.moved")
    assert [item.sequence for item in receiver.accepted] == [1, 2, 3]
    tenant = scene.path.rpartition("/")[2]
    assert (event.stream, event.tenant_id, event.subject) == (tenant, tenant, file["id"])
    assert event.occurred_at == scene.api.clock.now()
    assert event.data == {
        "fileId": file["id"],
        "parentId": folder["id"],
        "previousParentId": None,
        "name": "file",
        "revision": moved.json["revision"],
        "size": 1,
        "actor": {"$ref": scene.alice.id},
    }


def test_a_failed_delivery_is_repeated_later_and_the_next_events_wait(scene: Scene) -> None:
    receiver = Receiver()
    delivery = delivery_of(scene.api, receiver)
    receiver.fails = 2
    scene.file("one")
    delivery.deliver_all()
    scene.file("two")
    delivery.deliver_all()
    assert receiver.names == []
    assert len(receiver.calls) == 1
    scene.api.clock.advance(RETRIES.delay(1))
    delivery.deliver_all()
    # The batch has failed, and then its first event was accepted alone.
    assert receiver.names == ["one", "two"]
    assert delivery_of(scene.api, receiver)._positions.failing() == []


def test_an_unacceptable_event_becomes_a_dead_letter_and_the_others_are_delivered(scene: Scene) -> None:
    receiver = Receiver()
    delivery = delivery_of(scene.api, receiver)
    receiver.rejected = {"two"}
    for name in ("one", "two", "three"):
        scene.file(name)
    delivery.deliver_all()
    assert receiver.names == ["one", "three"]
    (dead,) = scene.api.container.events.positions.dead_letters()
    assert (dead.sink, dead.sequence, dead.type) == ("receiver", 2, "file.created")
    assert dead.error.endswith("EventRejected")


def test_an_event_that_fails_too_often_becomes_a_dead_letter(scene: Scene) -> None:
    receiver = Receiver()
    delivery = delivery_of(scene.api, receiver)
    receiver.fails = MAX_ATTEMPTS
    scene.file("one")
    for attempt in range(MAX_ATTEMPTS):
        delivery.deliver_all()
        scene.api.clock.advance(RETRIES.delay(attempt + 1))
    assert (len(receiver.calls), receiver.names) == (MAX_ATTEMPTS, [])
    assert [dead.sequence for dead in scene.api.container.events.positions.dead_letters()] == [1]
    scene.token_of(scene.admin)
    scene.file("two")
    delivery.deliver_all()
    assert receiver.names == ["two"]


def test_a_failing_stream_does_not_hold_up_others(scene: Scene) -> None:
    receiver = Receiver()
    other = scene.api.tenant(scene.admin, "Other")
    delivery = delivery_of(scene.api, receiver)
    scene.file("fails")
    receiver.fails = 1
    delivery.deliver_all()
    scene.api.upload(other, scene.admin, "other", b"x")
    delivery.deliver_all()
    assert receiver.names == ["other"]


def test_a_claimed_stream_is_left_to_its_process_until_the_lease_ends(scene: Scene) -> None:
    receiver = Receiver()
    delivery = delivery_of(scene.api, receiver)
    scene.file("one")
    tenant = scene.path.rpartition("/")[2]
    # A process that is killed after it has claimed the stream.
    claimed, _ = Positions(scene.api.container.database, scene.api.clock).claim("receiver", [tenant])
    assert [position.stream for position in claimed] == [tenant]
    delivery.deliver_all()
    assert receiver.names == []
    scene.api.clock.advance(LEASE)
    delivery.deliver_all()
    assert receiver.names == ["one"]


def test_a_process_that_lost_its_claim_cannot_store_a_position(scene: Scene) -> None:
    api, tenant = scene.api, scene.path.rpartition("/")[2]
    slow, fast = (Positions(api.container.database, api.clock) for _ in range(2))
    (position,), _ = slow.claim("receiver", [tenant])
    api.clock.advance(LEASE)
    assert fast.claim("receiver", [tenant])[0]
    assert not slow.save(position, release=True)


def test_types_select_events_and_subscribers_get_them_one_by_one(scene: Scene) -> None:
    seen: list[str] = []
    subscriber = EventSubscriber("names", ("tenant.created",), lambda event: seen.append(event.type))
    folders, all_events = Receiver("folders", ["folder.created"]), Receiver("all_events", ["*"])
    delivery = delivery_of(scene.api, folders, all_events, SubscriberSink("plugin", subscriber))
    scene.folder("folder")
    scene.file("file")
    scene.api.tenant(scene.admin, "Other")
    delivery.deliver_all()
    assert folders.names == ["folder"]
    assert seen == ["tenant.created"]
    assert [event.type for event in all_events.accepted if event.stream == "server"] == [
        "tenant.created"
    ]


def test_a_moved_position_repeats_events(scene: Scene) -> None:
    receiver = Receiver()
    delivery = delivery_of(scene.api, receiver)
    scene.file("one")
    scene.file("two")
    delivery.deliver_all()
    scene.api.container.events.positions.move("receiver", scene.path.rpartition("/")[2], 1)
    delivery.deliver_all()
    assert receiver.names == ["one", "two", "two"]
    assert receiver.accepted[1].id == receiver.accepted[2].id


def test_running_threads_deliver_what_this_process_commits(scene: Scene) -> None:
    receiver = Receiver()
    delivery = scene.api.container.events.delivery
    delivery.add(receiver)
    delivery.start()
    scene.file("one")
    delivery.close()
    # Closing waits for the batch that the commit has started; otherwise the next process delivers it.
    delivery_of(scene.api, receiver)
    assert receiver.names == ["one"]
