"""The queue of deliveries: one claim per endpoint, in the order of its events.

An endpoint's row is its lock. Appending, claiming and concluding update it first, so positions have no
duplicates and ``next_at`` is never older than the newest delivery. No transaction is open while a
request is on its way: the claim is a time in the row, which a crash lets pass.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import and_, case, delete, insert, or_, select, update
from uuid_utils import uuid7

from strongroom.plugin_api.events import Event, matches
from strongroom.plugin_api.host import Clock
from strongroom.plugin_api.state import PluginDatabase, Transaction
from strongroom.plugin_api.tracing import traceparent
from strongroom_webhooks.models import Delivery, Endpoint, Outcome, Status, deliveries, endpoints
from strongroom_webhooks.schedule import Schedule

LEASE_MARGIN: Final = 5_000
"""Milliseconds that a claim outlasts the time limit of a request."""

TEST_TYPE: Final = "webhook.test"

_ERROR_LENGTH: Final = 255
_FREE: Final[Mapping[str, None]] = {"claimed_by": None, "claimed_until": None}
_BATCH: Final = 1000


@dataclass(frozen=True, slots=True)
class Claim:
    """One delivery to send now, by this process alone."""

    token: str
    endpoint: Endpoint
    sealed_keys: str = field(repr=False)
    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of one request.

    Args:
        outcome: what became of the delivery; ``PENDING``: failed, to be attempted again.
        status: the HTTP status, if there was a response.
        error: the reason of a failure, without addresses.
        answer: the begin of the response body.
        duration: in milliseconds.
        retry_after: the seconds that the receiver requested.
        is_gone: whether the receiver wants no more events (410).
    """

    outcome: Outcome
    status: int | None = None
    error: str | None = None
    answer: str | None = None
    duration: int = 0
    retry_after: int | None = None
    is_gone: bool = False


class DeliveryQueue:
    """Deliveries that wait for their attempts.

    Args:
        timeout: the time limit of a request, in milliseconds.
        disable_after: how long an endpoint may fail before it is disabled, in milliseconds.
        on_disabled: called with an endpoint that was disabled, after the transaction.
    """

    def __init__(
        self,
        database: PluginDatabase,
        clock: Clock,
        schedule: Schedule,
        *,
        timeout: int,
        disable_after: int,
        on_disabled: Callable[[Endpoint, str], None],
    ) -> None:
        self._database = database
        self._clock = clock
        self._schedule = schedule
        self._lease = timeout + LEASE_MARGIN
        self._disable_after = disable_after
        self._on_disabled = on_disabled

    def append(self, events: Sequence[Event]) -> bool:
        """Queue events for each endpoint that wants them. Repeated events are ignored."""
        with self._database.write() as tx:
            tenants = {event.tenant_id for event in events}
            rows = tx.all(
                select(endpoints)
                .where(
                    endpoints.c.status == Status.ENABLED,
                    or_(endpoints.c.tenant_id.is_(None), endpoints.c.tenant_id.in_(tenants)),
                )
                .order_by(endpoints.c.id)  # so that two processes lock rows in the same order
            )
            for endpoint in map(Endpoint.of, rows):
                chosen = [event for event in events if is_wanted(endpoint, event)]
                if chosen:
                    self._append(tx, endpoint.id, chosen)
            return bool(rows)

    def append_test(self, endpoint_id: str, body: str) -> Delivery | None:
        """Queue a test message in front of all others, to be sent once; ``None`` if disabled."""
        now = self._clock.now()
        event_id, trace = str(uuid7()), traceparent()
        row = _delivery(endpoint_id, event_id, TEST_TYPE, "test", 0, body, 0, now, now, trace)
        with self._database.write() as tx:
            awake = {"next_at": now}
            if not tx.execute(_of(endpoint_id, endpoints.c.status == Status.ENABLED).values(awake)):
                return None
            tx.execute(insert(deliveries), [row])
        return Delivery(**row)

    def redeliver(self, endpoint_id: str, delivery_id: str) -> Delivery | None:
        """Queue a delivery again, in front of all others; ``None`` if there is none."""
        now = self._clock.now()
        with self._database.write() as tx:
            tx.execute(_of(endpoint_id).values(next_at=now))
            condition = and_(deliveries.c.id == delivery_id, deliveries.c.endpoint_id == endpoint_id)
            again = {"outcome": Outcome.PENDING, "attempt": 0, "position": 0, "next_at": now}
            tx.execute(update(deliveries).where(condition).values(again))
            row = tx.first(select(deliveries).where(condition))
        return Delivery.of(row) if row else None

    def replay(self, endpoint_id: str, events: Sequence[Event]) -> None:
        """Queue events again behind all others, in their order, those that were delivered included."""
        with self._database.write() as tx:
            ids = [event.id for event in events]
            tx.execute(
                delete(deliveries).where(
                    deliveries.c.endpoint_id == endpoint_id, deliveries.c.event_id.in_(ids)
                )
            )
            self._append(tx, endpoint_id, events)

    def erase_tenant(self, tenant_id: str) -> None:
        """Remove the endpoints of a tenant, with their deliveries."""
        owned = endpoints.c.tenant_id == tenant_id
        with self._database.write() as tx:
            ids = tx.scalars(select(endpoints.c.id).where(owned).with_for_update())
            tx.execute(delete(endpoints).where(owned))
            tx.execute(delete(deliveries).where(deliveries.c.endpoint_id.in_(ids)))

    def has_due(self) -> bool:
        """Return whether an endpoint waits for this moment, without a lock."""
        with self._database.read() as tx:
            return tx.first(self._due(failing=True).with_only_columns(endpoints.c.id)) is not None

    def claim(self, *, failing: bool = True) -> Claim | None:
        """Claim the endpoint that has waited longest, and return its next delivery.

        Args:
            failing: whether endpoints are included whose last attempt failed.
        """
        now, token = self._clock.now(), str(uuid7())
        with self._database.write() as tx:
            row = tx.first(self._due(failing=failing).with_for_update(skip_locked=True))
            if row is None:
                return None
            return self._continue(tx, row, token, now, keep=True)

    def conclude(self, claim: Claim, attempt: Attempt, *, keep: bool) -> Claim | None:
        """Record an attempt, and return the endpoint's next delivery if it is due.

        Args:
            claim: the claim, which ends unless it is returned again.
            keep: whether to continue with this endpoint.
        """
        now = self._clock.now()
        with self._database.write() as tx:
            owned = and_(endpoints.c.id == claim.endpoint.id, endpoints.c.claimed_by == claim.token)
            row = tx.first(select(endpoints).where(owned).with_for_update())
            if row is None:
                # The lease was lost, or the endpoint deleted. The holder of the lease sends again.
                return None
            self._record(tx, claim.delivery, attempt, now)
            reason = self._health(tx, Endpoint.of(row), claim.delivery, attempt, now)
            following = None if reason else self._continue(tx, row, claim.token, now, keep=keep)
        if reason:
            self._on_disabled(claim.endpoint, reason)
        return following

    def stop(self, claim: Claim, reason: str) -> bool:
        """Disable the endpoint of a claim without an attempt, because of its owner.

        All deliveries stay pending. Returns whether the claim was in force, and the owner the same.
        """
        now = self._clock.now()
        values = {"status": Status.DISABLED, "reason": reason, "updated_at": now, **_FREE}
        with self._database.write() as tx:
            is_same = (
                endpoints.c.claimed_by == claim.token,
                endpoints.c.owner_id == claim.endpoint.owner_id,
            )
            return bool(tx.execute(_of(claim.endpoint.id, *is_same).values(values)))

    def prune(self, before: int) -> int:
        """Delete finished deliveries that are older than a time; return how many."""
        condition = and_(deliveries.c.outcome != Outcome.PENDING, deliveries.c.created_at < before)
        chosen = select(deliveries.c.id).where(condition).limit(_BATCH)
        total = 0
        while True:
            with self._database.write() as tx:
                count = tx.execute(delete(deliveries).where(deliveries.c.id.in_(chosen)))
            total += count
            if count < _BATCH:
                return total

    def _append(self, tx: Transaction, endpoint_id: str, events: Sequence[Event]) -> None:
        now = self._clock.now()
        at = now + self._schedule.first_pause()
        last = endpoints.c.last_position + len(events)
        moved = _of(endpoint_id).values(last_position=last, next_at=_next_attempt(at))
        row = tx.first(moved.returning(endpoints.c.last_position))
        if row is None:
            return
        ids = [event.id for event in events]
        known = set(
            tx.scalars(
                select(deliveries.c.event_id).where(
                    deliveries.c.endpoint_id == endpoint_id, deliveries.c.event_id.in_(ids)
                )
            )
        )
        first = row.last_position - len(events) + 1
        rows = [
            _delivery(
                endpoint_id, event.id, event.type, event.stream, event.sequence,
                event.json().decode(), first + index, now, at, event.traceparent,
            )
            for index, event in enumerate(events)
            if event.id not in known
        ]  # fmt: skip
        if rows:
            tx.execute(insert(deliveries), rows)

    def _due(self, *, failing: bool) -> Any:
        now = self._clock.now()
        is_free = or_(endpoints.c.claimed_until.is_(None), endpoints.c.claimed_until <= now)
        query = (
            select(endpoints)
            .where(endpoints.c.status == Status.ENABLED, endpoints.c.next_at <= now, is_free)
            .order_by(endpoints.c.next_at)
            .limit(1)
        )
        return query if failing else query.where(endpoints.c.failing_since.is_(None))

    def _continue(self, tx: Transaction, row: Any, token: str, now: int, *, keep: bool) -> Claim | None:
        """Claim the head of the queue if it is due, or free the endpoint until it is."""
        waiting = and_(deliveries.c.endpoint_id == row.id, deliveries.c.outcome == Outcome.PENDING)
        order = (
            (deliveries.c.position,) if row.ordered else (deliveries.c.next_at, deliveries.c.position)
        )
        first = tx.first(select(deliveries).where(waiting).order_by(*order).limit(1))
        head = Delivery.of(first) if first else None
        if head is None or head.next_at > now or not keep:
            at = head.next_at if head else None
            tx.execute(_of(row.id).values(next_at=at, **_FREE))
            return None
        tx.execute(_of(row.id).values(claimed_by=token, claimed_until=now + self._lease))
        return Claim(token, Endpoint.of(row), row.signing_keys, head)

    def _record(self, tx: Transaction, delivery: Delivery, attempt: Attempt, now: int) -> None:
        values: dict[str, Any] = {
            "outcome": attempt.outcome,
            "attempt": delivery.attempt + 1,
            "status": attempt.status,
            "error": attempt.error[:_ERROR_LENGTH] if attempt.error else None,
            "answer": attempt.answer,
            "duration": attempt.duration,
            "attempted_at": now,
        }
        if attempt.outcome is Outcome.PENDING:
            pause = self._schedule.pause_after(delivery.attempt + 1, attempt.retry_after)
            if pause is None or delivery.event_type == TEST_TYPE:
                values["outcome"] = Outcome.FAILED
            else:
                values["next_at"] = now + pause
        # A delivery that was queued again meanwhile keeps its new round.
        same = and_(deliveries.c.id == delivery.id, deliveries.c.attempt == delivery.attempt)
        tx.execute(update(deliveries).where(same).values(values))

    def _health(
        self, tx: Transaction, endpoint: Endpoint, delivery: Delivery, attempt: Attempt, now: int
    ) -> str | None:
        """Note whether the endpoint works; disable it and return the reason if it has not for long."""
        if delivery.event_type == TEST_TYPE and not attempt.is_gone:
            return None
        if attempt.outcome is Outcome.SUCCEEDED:
            if endpoint.failing_since is not None:
                tx.execute(_of(endpoint.id).values(failing_since=None))
            return None
        since = endpoint.failing_since if endpoint.failing_since is not None else now
        reason = None
        if attempt.is_gone:
            reason = "the receiver answered 410 Gone"
        elif now - since >= self._disable_after:
            reason = f"no delivery has succeeded for {self._disable_after // 3_600_000} hours"
        values: Mapping[str, Any] = {"failing_since": since}
        if reason:
            values = {**values, "status": Status.DISABLED, "reason": reason, "updated_at": now, **_FREE}
        tx.execute(_of(endpoint.id).values(values))
        return reason


def _of(endpoint_id: str, *conditions: Any) -> Any:
    return update(endpoints).where(endpoints.c.id == endpoint_id, *conditions)


def is_wanted(endpoint: Endpoint, event: Event) -> bool:
    """Return whether an endpoint receives an event."""
    is_of_scope = endpoint.tenant_id is None or endpoint.tenant_id == event.tenant_id
    return is_of_scope and matches(endpoint.event_types, event.type)


def _next_attempt(at: int) -> Any:
    """Return when an endpoint is tried that gets further events, which are due at a time.

    It keeps the time of an endpoint that backs off, if its events are ordered.
    """
    next_at = endpoints.c.next_at
    return case(
        (next_at.is_(None), at),
        (endpoints.c.ordered.is_(False), case((next_at < at, next_at), else_=at)),
        else_=next_at,
    )


def _delivery(
    endpoint_id: str,
    event_id: str,
    event_type: str,
    stream: str,
    sequence: int,
    body: str,
    position: int,
    now: int,
    at: int,
    trace: str | None,
) -> dict[str, Any]:
    return {
        "id": str(uuid7()),
        "endpoint_id": endpoint_id,
        "event_id": event_id,
        "event_type": event_type,
        "stream": stream,
        "sequence": sequence,
        "body": body,
        "position": position,
        "outcome": Outcome.PENDING,
        "attempt": 0,
        "next_at": at,
        "status": None,
        "error": None,
        "answer": None,
        "duration": None,
        "created_at": now,
        "attempted_at": None,
        "traceparent": trace,
    }
