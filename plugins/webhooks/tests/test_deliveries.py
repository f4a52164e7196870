"""Deliveries: order, attempts, back-off, and what receivers may do wrong."""

import json
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import insert, select, update
from tests.support.receiver import (
    Answer,
    Exchange,
    Receiver,
    half,
    hangs,
    receiving,
    says,
    trickles,
)
from tests.support.waiting import wait_until

from strongroom.assembly.plugin_host.state import HostDatabase
from strongroom.foundation.database import Database
from strongroom.foundation.database.upgrade import upgrade
from strongroom.plugin_api.events import Event
from strongroom.plugin_api.outbound import OutboundClient, OutboundPolicy
from strongroom.plugin_api.state import PluginTables
from strongroom.testing.clock import ManualClock
from strongroom.testing.metrics import RecordedMetrics
from strongroom.testing.outbound import forbidden_urls, listening
from strongroom_webhooks.metrics import make_metrics
from strongroom_webhooks.models import (
    Delivery,
    Endpoint,
    Outcome,
    Status,
    deliveries,
    endpoints,
    metadata,
)
from strongroom_webhooks.owners import OWNER_GONE, Owners
from strongroom_webhooks.queue import Attempt, DeliveryQueue
from strongroom_webhooks.schedule import Schedule
from strongroom_webhooks.sender import Sender
from strongroom_webhooks.signing import SigningKeys

TENANT = "tenant-1"
TIMEOUT = 1.0
PATIENT = 60.0
"""The time limit of deliveries that must not exceed it, however busy the machine is."""
SCHEDULE = (0, 5, 300)
KEYS = SigningKeys.create()
TABLES = PluginTables(metadata, "strongroom_webhooks:migrations", "0001")


class _Owners(Owners):
    """Owners who lose their rights when the test says so."""

    def __init__(self) -> None:
        self.former: set[str] = set()
        self.stopped: list[str] = []

    def administer(self, endpoint: Endpoint) -> bool:
        return endpoint.owner_id not in self.former

    def record_stop(self, endpoint: Endpoint) -> None:
        self.stopped.append(endpoint.id)


class World:
    """The plugin's parts over a real database and a real receiver, with time standing still."""

    def __init__(self, database: Database, receiver: Receiver) -> None:
        self.clock = ManualClock(round(time.time() * 1000))
        self.receiver = receiver
        self.disabled: list[tuple[str, str]] = []
        self.database = HostDatabase("webhooks", lambda: database)
        self.queue = DeliveryQueue(
            self.database,
            self.clock,
            Schedule(SCHEDULE, lambda low, high: (low + high) / 2),
            timeout=round(TIMEOUT * 1000),
            disable_after=3_600_000,
            on_disabled=lambda endpoint, reason: self.disabled.append((endpoint.id, reason)),
        )
        self.owners = _Owners()
        self.limit(PATIENT)

    def limit(self, seconds: float) -> None:
        """Set the time limit of a request."""
        policy = OutboundPolicy((f"127.0.0.1:{self.receiver.port}",), True, seconds)
        self.sender = self.new_sender(OutboundClient(policy), 4)

    def new_sender(self, client: OutboundClient, concurrency: int) -> Sender:
        return Sender(self.queue, client, lambda text: text, self.clock, concurrency, self.owners)

    def metrics(self) -> RecordedMetrics:
        """Record the metrics from now on."""
        found = make_metrics(self.database, self.clock)
        return RecordedMetrics({metric.name: metric for metric in found})

    def endpoint(self, path: str = "/hook", *, answer: Answer | None = None, **values: Any) -> str:
        if answer:
            self.receiver.answers[path] = answer
        row = {
            "id": path,
            "tenant_id": TENANT,
            "owner_id": "user-1",
            "url": self.receiver.url(path),
            "description": "",
            "event_types": "*",
            "ordered": True,
            "signing_keys": json.dumps([KEYS.json()]),
            "status": Status.ENABLED,
            "revision": 1,
            "created_at": 0,
            "updated_at": 0,
            "last_position": 0,
        }
        with self.database.write() as tx:
            tx.execute(insert(endpoints), [{**row, **values}])
        return path

    def happen(self, *numbers: int, tenant_id: str = TENANT) -> None:
        self.queue.append([event(number, tenant_id) for number in numbers])

    def state(self, endpoint_id: str) -> Endpoint:
        with self.database.read() as tx:
            return Endpoint.of(tx.first(select(endpoints).where(endpoints.c.id == endpoint_id)))

    def deliveries(self, endpoint_id: str) -> list[Delivery]:
        found = select(deliveries).where(deliveries.c.endpoint_id == endpoint_id)
        with self.database.read() as tx:
            return [Delivery.of(row) for row in tx.all(found.order_by(deliveries.c.position))]

    def only(self, endpoint_id: str) -> Delivery:
        (delivery,) = self.deliveries(endpoint_id)
        return delivery


def event(number: int, tenant_id: str = TENANT) -> Event:
    return Event(
        id=f"event-{number}",
        type="file.created",
        stream=tenant_id,
        sequence=number,
        subject="file",
        tenant_id=tenant_id,
        occurred_at=0,
        data={"number": number, "name": "a 文件"},
    )


@pytest.fixture(scope="module")
def shared_receiver() -> Iterator[Receiver]:
    with receiving() as receiver:
        yield receiver


@pytest.fixture
def world(database_url: str, shared_receiver: Receiver) -> Iterator[World]:
    shared_receiver.messages.clear()
    shared_receiver.answers.clear()
    database = Database(database_url)
    upgrade(database.engine, {"webhooks": TABLES})
    yield World(database, shared_receiver)
    database.close()


def test_a_message_is_signed_as_receivers_expect(world: World) -> None:
    hook = world.endpoint()
    world.happen(1)
    assert world.sender.send_due() == 1
    (message,) = world.receiver.messages
    assert message.id == "event-1"
    assert message.is_signed_by(KEYS.shown_secret)
    assert not message.is_signed_by(SigningKeys.create().shown_secret)
    assert message.headers["content-type"] == "application/json"
    assert message.json == {
        "type": "file.created",
        "timestamp": "1970-01-01T00:00:00.000Z",
        "data": {"number": 1, "name": "a 文件"},
    }
    delivery = world.only(hook)
    assert (delivery.outcome, delivery.status, delivery.attempt) == (Outcome.SUCCEEDED, 204, 1)


def test_events_arrive_in_order_and_once(world: World) -> None:
    hook = world.endpoint()
    world.happen(1, 2)
    world.happen(2, 3)
    world.happen(3, 4)
    assert world.sender.send_due() == 4
    assert world.receiver.ids(hook) == [f"event-{number}" for number in (1, 2, 3, 4)]
    assert world.sender.send_due() == 0


def test_an_endpoint_receives_what_it_wants(world: World) -> None:
    world.endpoint("/mine")
    world.endpoint("/all", tenant_id=None)
    world.endpoint("/users", tenant_id=None, event_types="user.* file.deleted")
    world.endpoint("/disabled", status=Status.DISABLED)
    world.happen(1)
    world.happen(2, tenant_id="tenant-2")
    # The events of the server's stream are of several tenants.
    world.queue.append([event(3, TENANT), event(4, "tenant-2")])
    world.sender.send_due()
    assert world.receiver.ids("/mine") == ["event-1", "event-3"]
    assert world.receiver.ids("/all") == ["event-1", "event-2", "event-3", "event-4"]
    assert world.receiver.ids("/users") == world.receiver.ids("/disabled") == []


def test_a_failed_delivery_is_attempted_by_the_schedule_and_holds_back_later_ones(world: World) -> None:
    hook = world.endpoint(answer=says(500, b"no"))
    world.happen(1, 2)
    assert world.sender.send_due() == 1
    world.happen(3)
    assert world.sender.send_due() == 0
    world.clock.advance(4_900)
    assert world.sender.send_due() == 0
    world.clock.advance(100)
    assert world.sender.send_due() == 1
    first, *_ = world.deliveries(hook)
    assert (first.outcome, first.attempt, first.status, first.answer) == ("pending", 2, 500, "no")
    world.receiver.answers[hook] = says(200)
    world.clock.advance(300_000)
    assert world.sender.send_due() == 3
    assert world.receiver.ids(hook) == ["event-1", "event-1", "event-1", "event-2", "event-3"]
    assert world.state(hook).failing_since is None


def test_after_the_schedule_a_delivery_has_failed_and_the_next_begins(world: World) -> None:
    hook = world.endpoint(answer=says(500))
    world.happen(1, 2)
    for pause in (*SCHEDULE, 0):
        world.clock.advance(pause * 1000)
        world.sender.send_due()
    first, second = world.deliveries(hook)
    assert (first.outcome, first.attempt) == (Outcome.FAILED, len(SCHEDULE))
    assert (second.outcome, second.attempt) == (Outcome.PENDING, 1)


def test_without_order_a_failing_delivery_does_not_hold_back_others(world: World) -> None:
    hook = world.endpoint(answer=says(500), ordered=False)
    world.happen(1)
    assert world.sender.send_due() == 1
    world.receiver.answers[hook] = says(200)
    world.happen(2)
    assert world.sender.send_due() == 1
    assert world.receiver.ids(hook) == ["event-1", "event-2"]
    world.clock.advance(5_000)
    assert world.sender.send_due() == 1
    assert world.receiver.ids(hook)[-1] == "event-1"


@pytest.mark.parametrize(
    ("answer", "status", "error"),
    [
        (says(500), 500, "answered 500"),
        (says(302, Location="http://127.0.0.1:1/"), 302, "answered 302"),
        (says(199 + 201), 400, "answered 400"),
        (half, None, "connection broke"),
        (hangs, None, "in time"),
        (trickles, None, "in time"),
    ],
    ids=["500", "302", "400", "half", "hangs", "trickles"],
)
def test_a_failure_is_recorded_and_attempted_again(
    world: World, answer: Answer, status: int | None, error: str
) -> None:
    hook = world.endpoint(answer=answer)
    world.happen(1)
    if answer in (hangs, trickles):
        world.limit(TIMEOUT)
    assert world.sender.send_due() == 1
    delivery = world.only(hook)
    assert (delivery.outcome, delivery.status) == (Outcome.PENDING, status)
    assert error in (delivery.error or "")
    assert delivery.next_at == world.clock.now() + 5_000


def test_410_disables_the_endpoint_and_notifies_its_owner(world: World) -> None:
    hook = world.endpoint(answer=says(410))
    world.happen(1, 2)
    assert world.sender.send_due() == 1
    state = world.state(hook)
    assert (state.status, state.reason) == (Status.DISABLED, "the receiver answered 410 Gone")
    assert world.disabled == [(hook, state.reason)]
    world.happen(3)
    world.clock.advance(86_400_000)
    assert world.sender.send_due() == 0
    assert [item.outcome for item in world.deliveries(hook)] == ["failed", "pending"]


def test_an_endpoint_whose_owner_lost_the_role_stops_with_its_deliveries_pending(world: World) -> None:
    world.endpoint("/theirs", owner_id="former")
    world.endpoint("/ours")
    world.happen(1, 2)
    world.owners.former.add("former")
    assert world.sender.send_due() == 2
    assert (world.receiver.of("/theirs"), len(world.receiver.of("/ours"))) == ([], 2)
    state = world.state("/theirs")
    assert (state.status, state.reason) == (Status.DISABLED, OWNER_GONE)
    assert [(item.outcome, item.attempt) for item in world.deliveries("/theirs")] == [("pending", 0)] * 2
    assert (world.owners.stopped, world.disabled) == (["/theirs"], [])


def test_an_endpoint_that_is_taken_over_meanwhile_is_not_stopped(world: World) -> None:
    world.endpoint("/taken", owner_id="former")
    world.happen(1)
    claim = world.queue.claim()
    assert claim
    with world.database.write() as tx:
        tx.execute(update(endpoints).values(owner_id="user-1"))
    assert not world.queue.stop(claim, OWNER_GONE)
    assert world.state("/taken").status == Status.ENABLED


def test_failing_for_long_disables_the_endpoint(world: World) -> None:
    hook = world.endpoint(answer=says(500))
    world.happen(*range(10))
    world.sender.send_due()
    world.clock.advance(3_599_000)
    world.sender.send_due()
    assert world.state(hook).status == Status.ENABLED
    world.clock.advance(1_000_000)
    world.sender.send_due()
    assert world.state(hook).status == Status.DISABLED
    assert world.disabled == [(hook, "no delivery has succeeded for 1 hours")]


def test_retry_after_is_respected(world: World) -> None:
    hook = world.endpoint(answer=says(429, Retry_After="60"))
    world.happen(1)
    world.sender.send_due()
    assert world.only(hook).next_at == world.clock.now() + 60_000


@pytest.mark.parametrize("value", ["Wed, 21 Oct 2026 07:28:00 GMT", "-1", "1e9", "²", "9" * 5_000, ""])
def test_other_forms_of_retry_after_change_nothing(world: World, value: str) -> None:
    hook = world.endpoint(answer=says(503, Retry_After=value.encode().decode("latin-1")))
    world.happen(1)
    world.sender.send_due()
    assert world.only(hook).next_at == world.clock.now() + 5_000


def test_a_refused_address_is_final(world: World) -> None:
    hook = world.endpoint(url="https://169.254.169.254/latest")
    world.happen(1)
    assert world.sender.send_due() == 1
    delivery = world.only(hook)
    assert (delivery.outcome, delivery.error) == (Outcome.REFUSED, "refused: address not public")
    assert world.sender.send_due() == 0


def test_a_forbidden_url_is_refused_at_each_attempt(world: World) -> None:
    """Also one that was stored before its name led to a private address."""
    hook = world.endpoint()
    with listening() as canary:
        # PostgreSQL cannot store NUL.
        stored = [item for item in forbidden_urls() if "\0" not in item.url]
        for number, forbidden in enumerate(stored):
            with world.database.write() as tx:
                tx.execute(update(endpoints).values(url=forbidden.url))
            world.happen(number)
            client = OutboundClient(resolver=forbidden.resolve)
            assert world.new_sender(client, 1).send_due() == 1
    assert {item.outcome for item in world.deliveries(hook)} == {Outcome.REFUSED}
    assert len(world.deliveries(hook)) >= 100
    assert canary.seen == []


def test_only_the_begin_of_an_answer_is_kept(world: World) -> None:
    hook = world.endpoint(answer=says(200, b"\0\xff" + b"x" * 5000))
    world.happen(1)
    world.sender.send_due()
    answer = world.only(hook).answer
    assert answer == "\ufffd\ufffd" + "x" * 1022


def test_a_claim_that_a_crash_left_ends_by_its_time(world: World) -> None:
    hook = world.endpoint()
    world.happen(1)
    assert world.queue.claim() is not None
    assert world.sender.send_due() == 0
    world.clock.advance(round(TIMEOUT * 1000) + 5_000)
    assert world.sender.send_due() == 1
    assert world.receiver.ids(hook) == ["event-1"]


def test_a_lost_claim_records_nothing(world: World) -> None:
    world.endpoint()
    world.happen(1)
    first = world.queue.claim()
    world.clock.advance(60_000)
    second = world.queue.claim()
    assert first is not None
    assert second is not None
    attempt = Attempt(Outcome.SUCCEEDED, status=200)
    assert world.queue.conclude(first, attempt, keep=True) is None
    assert world.only("/hook").outcome == Outcome.PENDING
    world.queue.conclude(second, attempt, keep=True)
    assert world.only("/hook").outcome == Outcome.SUCCEEDED


def test_a_stuck_endpoint_delays_no_other(world: World) -> None:
    over = threading.Event()

    def stuck(_: Exchange) -> None:
        over.wait(PATIENT)

    for number in range(6):
        world.endpoint(f"/stuck-{number}", answer=stuck, failing_since=1)
    hook = world.endpoint("/well")
    world.happen(1)
    world.sender.start()
    try:
        wait_until(lambda: bool(world.receiver.ids(hook)), PATIENT / 2)
    finally:
        over.set()
        world.sender.stop()


def test_replayed_events_arrive_again_in_their_order_with_their_ids(world: World) -> None:
    hook = world.endpoint()
    world.happen(2, 3)
    world.sender.send_due()
    world.queue.replay(hook, [event(number) for number in (1, 2, 3)])
    world.sender.send_due()
    assert world.receiver.ids(hook) == [f"event-{number}" for number in (2, 3, 1, 2, 3)]


def test_old_deliveries_are_pruned_but_not_pending_ones(world: World) -> None:
    world.endpoint("/good")
    world.endpoint("/bad", answer=says(500))
    world.happen(1)
    world.sender.send_due()
    assert world.queue.prune(world.clock.now()) == 0
    assert world.queue.prune(world.clock.now() + 1) == 1
    assert [item.outcome for item in world.deliveries("/bad")] == ["pending"]


def test_the_backlog_is_measured_by_the_state_of_receivers(world: World) -> None:
    metrics = world.metrics()
    none = {("working",): 0, ("failing",): 0, ("disabled",): 0}
    for name in ("pending_deliveries", "oldest_pending_age_seconds", "endpoints"):
        assert metrics.read(name) == none
    world.endpoint("/good")
    world.endpoint("/bad", answer=says(500))
    world.endpoint("/off", status=Status.DISABLED)
    world.happen(1, 2)
    world.sender.send_due()
    world.clock.advance(4_000)
    world.happen(3)
    world.clock.advance(500)
    assert metrics.read("endpoints") == dict.fromkeys(none, 1)
    assert metrics.read("pending_deliveries") == {**none, ("working",): 1, ("failing",): 3}
    ages = {**none, ("working",): 0.5, ("failing",): 4.5}
    assert metrics.read("oldest_pending_age_seconds") == ages


def test_attempts_are_counted_by_their_outcome(world: World) -> None:
    metrics = world.metrics()
    for path, answer in (("/good", says(200)), ("/bad", says(500)), ("/gone", says(410))):
        world.endpoint(path, answer=answer)
    world.endpoint("/forbidden", url="https://169.254.169.254/")
    world.happen(1)
    assert world.sender.send_due() == 4
    outcomes = ("succeeded", "failed", "refused")
    assert [metrics.total("attempts", outcome) for outcome in outcomes] == [1, 2, 1]
    assert len(metrics.values("attempt_seconds")) == 4
    assert all(0 <= seconds < TIMEOUT for seconds in metrics.values("attempt_seconds"))
