"""Prometheus metrics. Each process counts separately; the values are summed when they are read."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client.metrics import MetricWrapperBase
from sqlalchemy import Engine, event

from strongroom.activity.audit.outcomes import SUCCESS
from strongroom.activity.audit.service import AuditEvent

LOGIN: Final = "login"

_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_FEW_SECONDS: Final = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10)
_COUNTED: Final = "strongroom_counted"
_SUM_OF_LIVING: Final = "livesum"


class Metrics:
    """The metrics of a process.

    Labels never contain client input: routes are templates, and all other values are from closed lists.
    So the number of time series is bounded.
    """

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self._add_requests(registry)
        self._add_logins(registry)
        self._add_database(registry)
        self._add_storages(registry)
        self._add_background_work(registry)

    def _add_requests(self, registry: CollectorRegistry) -> None:
        self._requests = Counter(
            "strongroom_requests",
            "Finished requests.",
            ["method", "route", "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "strongroom_request_seconds",
            "Time from the head of a request to the end of its response.",
            ["method", "route"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._received = Counter(
            "strongroom_received_bytes", "Bytes of request bodies.", ["route"], registry=registry
        )
        self._sent = Counter(
            "strongroom_sent_bytes", "Bytes of response bodies.", ["route"], registry=registry
        )
        self.requests_in_flight = _gauge(
            registry, "strongroom_requests_in_flight", "Requests in progress."
        )
        self._queue_wait = Histogram(
            "strongroom_queue_wait_seconds",
            "Time that work waited for a thread, a slot or the other changes of its tenant.",
            ["queue"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._limited = Counter(
            "strongroom_limited",
            "Attempts refused by a rate limit, by the key in [limits] or the purpose.",
            ["limit"],
            registry=registry,
        )

    def _add_logins(self, registry: CollectorRegistry) -> None:
        self._logins = Counter(
            "strongroom_logins",
            "Login attempts, by success or error code.",
            ["outcome"],
            registry=registry,
        )
        self._events = Counter(
            "strongroom_audit_events",
            "Recorded audit events.",
            ["action", "outcome"],
            registry=registry,
        )
        self._hashes = _gauge(
            registry, "strongroom_hashes_in_flight", "Password hashes that are computed or queued."
        )

    def _add_database(self, registry: CollectorRegistry) -> None:
        self._connections = _gauge(
            registry, "strongroom_database_connections_in_use", "Database connections in use."
        )
        self._connections_max = _gauge(
            registry,
            "strongroom_database_connections_max",
            "Connections that transactions can hold at most.",
        )
        self._database_wait = Histogram(
            "strongroom_database_wait_seconds",
            "Time that transactions waited for a connection and, on SQLite, for the write lock.",
            buckets=_SECONDS,
            registry=registry,
        )
        self._statements = Histogram(
            "strongroom_database_statement_seconds",
            "Duration of database statements.",
            ["statement"],
            buckets=_FEW_SECONDS,
            registry=registry,
        )
        self._statement_errors = Counter(
            "strongroom_database_statement_errors",
            "Database statements that failed.",
            ["statement"],
            registry=registry,
        )
        self._statement = cache(self._statements.labels)
        self._replica_reads = Counter(
            "strongroom_replica_reads",
            "Reads that the replica may answer, by the server that answered: `replica` or `primary`.",
            ["server"],
            registry=registry,
        )

    def _add_storages(self, registry: CollectorRegistry) -> None:
        self._storage_calls = Histogram(
            "strongroom_storage_seconds",
            "Duration of calls of storages; of uploads, with the time that the client takes.",
            ["storage", "verb"],
            buckets=_SECONDS,
            registry=registry,
        )
        self._storage_errors = Counter(
            "strongroom_storage_errors",
            "Calls of storages that failed; objects that do not exist are no failures.",
            ["storage", "verb"],
            registry=registry,
        )
        self._circuits = _gauge(
            registry,
            "strongroom_open_circuits",
            "Processes whose circuit breaker of a storage is open, because it was unavailable.",
            ["storage"],
        )

    def _add_background_work(self, registry: CollectorRegistry) -> None:
        # Not "job", a label that Prometheus sets itself.
        self._job_runs = Counter(
            "strongroom_job_runs", "Runs of recurring jobs.", ["name", "outcome"], registry=registry
        )
        self._job_seconds = Counter(
            "strongroom_job_seconds", "Time spent in recurring jobs.", ["name"], registry=registry
        )
        self._slow_hooks = Counter(
            "strongroom_slow_plugin_hooks",
            "Calls of hooks of plugins that took a second or longer.",
            ["plugin", "hook"],
            registry=registry,
        )
        self._dropped_spans = Counter(
            "strongroom_dropped_spans",
            "Spans that were not exported: `collector` did not accept them, or `queue` was full.",
            ["reason"],
            registry=registry,
        )
        self._messages = Counter(
            "strongroom_messages",
            "E-mails and SMS: `sent`, `failed`, or `uncertain` if the gateway may have accepted it.",
            ["channel", "outcome"],
            registry=registry,
        )
        self._scans = Counter(
            "strongroom_scans", "Finished content scans.", ["scanner", "state"], registry=registry
        )
        self._scan_seconds = Histogram(
            "strongroom_scan_seconds",
            "Duration of content scans.",
            ["scanner"],
            buckets=_SECONDS,
            registry=registry,
        )

    @property
    def instruments(self) -> list[MetricWrapperBase]:
        """All metrics, for the reference."""
        return [item for item in vars(self).values() if isinstance(item, MetricWrapperBase)]

    @property
    def names(self) -> list[str]:
        """The names of all metrics, of counters without ``_total``."""
        return [item.name for item in self.registry.collect()]

    def slow_hook(self, plugin: str, hook: str) -> None:
        """Count a call of a hook that took long."""
        self._slow_hooks.labels(plugin, hook).inc()

    def dropped_spans(self, reason: str, number: int) -> None:
        """Count spans that were not exported."""
        self._dropped_spans.labels(reason).inc(number)

    def message(self, channel: str, outcome: str) -> None:
        """Count a message that was sent, or could not be sent."""
        self._messages.labels(channel, outcome).inc()

    def scan(self, scanner: str, state: str, seconds: float) -> None:
        """Count a finished scan of one scanner."""
        self._scans.labels(scanner, state).inc()
        self._scan_seconds.labels(scanner).observe(seconds)

    def job_run(self, name: str, succeeded: bool, seconds: float) -> None:
        """Count a run of a recurring job."""
        self._job_runs.labels(name, "success" if succeeded else "failure").inc()
        self._job_seconds.labels(name).inc(seconds)

    def statement(self, name: str, seconds: float, *, failed: bool) -> None:
        """Count an executed statement of the database."""
        self._statement(name).observe(seconds)
        if failed:
            self._statement_errors.labels(name).inc()

    def replica_read(self, is_replica: bool) -> None:
        """Count a read that the replica may answer."""
        self._replica_reads.labels("replica" if is_replica else "primary").inc()

    def database_wait(self, seconds: float) -> None:
        """Record how long a transaction waited to begin."""
        self._database_wait.observe(seconds)

    def storage_call(self, storage: str, verb: str, seconds: float, *, failed: bool) -> None:
        """Count a call of a storage."""
        self._storage_calls.labels(storage, verb).observe(seconds)
        if failed:
            self._storage_errors.labels(storage, verb).inc()

    def queue_wait(self, queue: str, seconds: float) -> None:
        """Record how long work waited in a queue."""
        self._queue_wait.labels(queue).observe(seconds)

    def limited(self, limit: str) -> None:
        """Count an attempt that a rate limit refused."""
        self._limited.labels(limit).inc()

    def circuit(self, storage: str, *, is_open: bool) -> None:
        """Record the state of a storage's circuit breaker in this process."""
        self._circuits.labels(storage).set(int(is_open))

    def request(
        self, method: str, route: str, status: int, seconds: float, received: int, sent: int
    ) -> None:
        """Count a finished request."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)
        self._received.labels(route).inc(received)
        self._sent.labels(route).inc(sent)

    def audit_event(self, event: AuditEvent) -> None:
        """Count a recorded audit event."""
        self._events.labels(event.action, event.outcome).inc()
        if event.action == LOGIN:
            code = event.details.get("code", event.outcome)
            self._logins.labels(SUCCESS if event.outcome == SUCCESS else code).inc()

    @contextmanager
    def hashing(self) -> Iterator[None]:
        """Count a password hash as in flight during the block."""
        with self._hashes.track_inprogress():
            yield

    def watch(self, engine: Engine) -> None:
        """Count the connections that are checked out of an engine's pool, and all that it may open."""
        # The pool opens as many connections in addition under load.
        size: int = getattr(engine.pool, "size", lambda: 0)()
        self._connections_max.inc(2 * size)
        event.listen(engine, "checkout", self._count_checkout)
        event.listen(engine, "checkin", self._count_checkin)

    def _count_checkout(self, _connection: Any, record: Any, _proxy: Any) -> None:
        record.record_info[_COUNTED] = True
        self._connections.inc()

    def _count_checkin(self, _connection: Any, record: Any) -> None:
        # A connection whose reconnect failed is checked in without having been checked out.
        if record.record_info.pop(_COUNTED, False):
            self._connections.dec()


def _gauge(registry: CollectorRegistry, name: str, meaning: str, labels: Sequence[str] = ()) -> Gauge:
    # Gauges of ended processes are dropped; see processes._forget_dead.
    mode: Any = _SUM_OF_LIVING
    return Gauge(name, meaning, labels, registry=registry, multiprocess_mode=mode)
