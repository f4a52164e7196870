"""The metrics: attempts are counted where they are made, and the queue is read from the database."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from sqlalchemy import case, func, select

from strongroom.plugin_api.host import Clock
from strongroom.plugin_api.metrics import Counter, Gauge, Histogram, Labels, Metric
from strongroom.plugin_api.state import PluginDatabase
from strongroom_webhooks.models import Outcome, Status, deliveries, endpoints

_ATTEMPT_SECONDS: Final = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class EndpointState(StrEnum):
    """What a receiver is like."""

    WORKING = "working"
    FAILING = "failing"  # its last attempt failed
    DISABLED = "disabled"


_OUTCOMES: Final = {
    # An attempt that failed leaves the delivery pending, until it was the last.
    Outcome.PENDING: Outcome.FAILED,
    Outcome.FAILED: Outcome.FAILED,
    Outcome.REFUSED: Outcome.REFUSED,
    Outcome.SUCCEEDED: Outcome.SUCCEEDED,
}
_STATE: Final = case(
    (endpoints.c.status == Status.DISABLED, EndpointState.DISABLED.value),
    (endpoints.c.failing_since.is_not(None), EndpointState.FAILING.value),
    else_=EndpointState.WORKING.value,
)
_BY_STATE: Final = {"endpoint": tuple(EndpointState)}

ATTEMPTS: Final = Counter(
    "attempts",
    "Requests to endpoints; refused ones were not sent, because the address is forbidden.",
    labels={"outcome": tuple(dict.fromkeys(_OUTCOMES.values()))},
)
ATTEMPT_SECONDS: Final = Histogram(
    "attempt", "Duration of requests to endpoints.", unit="seconds", buckets=_ATTEMPT_SECONDS
)


def count_attempt(outcome: Outcome, milliseconds: int) -> None:
    """Count an attempt to deliver."""
    ATTEMPTS.inc(_OUTCOMES[outcome])
    ATTEMPT_SECONDS.observe(milliseconds / 1000)


def make_metrics(database: PluginDatabase, clock: Clock) -> list[Metric]:
    """Return the metrics of one server."""
    backlog = Backlog(database, clock)
    return [
        ATTEMPTS,
        ATTEMPT_SECONDS,
        Gauge(
            "pending_deliveries",
            "Deliveries that wait for their next attempt, by the state of their endpoint.",
            backlog.count_pending,
            labels=_BY_STATE,
        ),
        Gauge(
            "oldest_pending_age",
            "Age of the oldest pending delivery, by the state of its endpoint; 0 if there is none.",
            backlog.ages,
            unit="seconds",
            labels=_BY_STATE,
        ),
        Gauge(
            "endpoints",
            "Endpoints: working, failing since the last attempt, or disabled.",
            backlog.count_endpoints,
            labels={"state": tuple(EndpointState)},
        ),
    ]


@dataclass(slots=True, eq=False, repr=False)
class Backlog:
    """Reads the pending deliveries and the endpoints from the database."""

    _database: PluginDatabase
    _clock: Clock

    def count_pending(self) -> dict[Labels, float]:
        """Return the number of pending deliveries by the state of their endpoints."""
        return self._by_state(func.count())

    def ages(self) -> dict[Labels, float]:
        """Return the age of the oldest pending delivery in seconds, by the state of its endpoint."""
        return self._by_state(func.min(deliveries.c.created_at), self._age)

    def count_endpoints(self) -> dict[Labels, float]:
        """Return the number of endpoints by their state."""
        number = func.count().label("number")
        with self._database.read() as tx:
            rows = tx.all(select(_STATE.label("state"), number).group_by("state"))
        values = {row.state: row.number for row in rows}
        return {(state,): values.get(state, 0) for state in EndpointState}

    def _by_state(self, number: Any, convert: Callable[[Any], float] = float) -> dict[Labels, float]:
        """Return a number of the pending deliveries by the state of their endpoints; 0 for none."""
        pending = (
            select(_STATE.label("state"), number.label("number"))
            .select_from(deliveries.join(endpoints, endpoints.c.id == deliveries.c.endpoint_id))
            .where(deliveries.c.outcome == Outcome.PENDING)
            .group_by("state")
        )
        with self._database.read() as tx:
            values = {row.state: convert(row.number) for row in tx.all(pending)}
        return {(state,): values.get(state, 0.0) for state in EndpointState}

    def _age(self, created_at: int) -> float:
        return max(0, self._clock.now() - created_at) / 1000
