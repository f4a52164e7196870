"""Delivers events to sinks: at least once, in the order of each stream, independently of the others.

A sink has one thread per process. It is woken by the commits of its own process, and finds commits of
other processes, and leftovers of a killed process, by reading the database every second. The position
of a sink in a stream is claimed while its events are delivered, so that one process delivers them.

Why nothing is lost: an event is written in the transaction of its change; sequences become visible in
their order; and a position is stored only after the sink has accepted the events before it. A process
that is killed in between leaves a position that is too low, so the events are delivered again.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Event as Flag
from threading import Lock, Thread
from typing import Final

from strongroom.activity.events.models import DeadLetter, Position
from strongroom.activity.events.positions import Positions
from strongroom.activity.events.streams import Batch, CommittedEvents
from strongroom.clock import Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.commit_signal import UNSEALED
from strongroom.foundation.errors import StrongroomError
from strongroom.plugin_api.backoff import Backoff
from strongroom.plugin_api.events import Event, EventRejected, EventSink, EventSubscriber, matches

POLL_SECONDS: Final = 1.0
"""How often the database is read for the events of other processes."""

MAX_ATTEMPTS: Final = 20
"""Failed attempts after which an event becomes a dead letter: after about 9 hours."""

RETRIES: Final = Backoff.exponential(500, maximum=60 * 60 * 1000)
"""When the next delivery of an event is attempted."""

_GATHER_SECONDS: Final = 0.02
_CONTENDED_SECONDS: Final = 0.05
_CLAIMED_AT_ONCE: Final = 32
_RECENT: Final = 60_000
_POLLS_PER_FULL_SCAN: Final = 600

logger = logging.getLogger(__name__)


class SubscriberSink(EventSink):
    """Delivers events to the function of a subscriber, one by one."""

    def __init__(self, plugin: str, subscriber: EventSubscriber) -> None:
        self.name = f"{plugin}.{subscriber.name}"
        self.types = subscriber.types
        self._handler = subscriber.handler

    def deliver(self, events: Sequence[Event]) -> None:
        for event in events:
            self._handler(event)


@dataclass(frozen=True, slots=True)
class _Failure:
    event: Event
    error: Exception


@dataclass(slots=True, eq=False, repr=False)
class SinkDelivery:
    """Delivers the claimed streams of one sink. All calls are by one thread.

    Args:
        should_stop: checked between two batches.
    """

    sink: EventSink
    _log: CommittedEvents
    _positions: Positions
    _clock: Clock
    _should_stop: Callable[[], bool] = lambda: False

    def deliver(self, streams: Collection[str]) -> set[str]:
        """Deliver the new events of streams; return those that another process has claimed."""
        contended: set[str] = set()
        names = sorted(streams)
        for start in range(0, len(names), _CLAIMED_AT_ONCE):
            if self._should_stop():
                break
            some = names[start : start + _CLAIMED_AT_ONCE]
            claimed, others = self._positions.claim(self.sink.name, some)
            contended |= others
            for position in claimed:
                self._drain(position)
        return contended

    def _drain(self, claimed: Position) -> None:
        """Deliver all new events of a claimed stream, and release the claim."""
        position: Position | None = claimed
        while position is not None:
            batch = self._log.batch(position.stream, position.position)
            accepted, failure = self._attempt(batch)
            position = replace(position, position=max(accepted, position.position))
            if failure is not None:
                position = self._fail(position, failure, is_first=accepted > batch.after)
            else:
                is_last = not batch.is_full or self._should_stop()
                position = self._save(replace(position, failures=0), release=is_last)

    def _attempt(self, batch: Batch) -> tuple[int, _Failure | None]:
        """Deliver a batch; return the sequence up to which it was accepted, and the first failure."""
        events = [event for event in batch.events if matches(self.sink.types, event.type)]
        if not events or (failure := self._deliver(events)) is None:
            return batch.last, None
        if len(events) > 1:
            # One by one, so that the events before an unacceptable one are not held up by it.
            failure = next(filter(None, (self._deliver([event]) for event in events)), None)
        if failure is None:
            return batch.last, None
        # All events before it were accepted, or are of types that the sink does not want.
        return failure.event.sequence - 1, failure

    def _deliver(self, events: Sequence[Event]) -> _Failure | None:
        try:
            self.sink.deliver(events)
        # A plugin may raise anything, and the thread must continue.
        except Exception as error:
            return _Failure(events[0], error)
        return None

    def _fail(self, position: Position, failure: _Failure, *, is_first: bool) -> Position | None:
        """Schedule the next attempt, or give the event up; return the position if there is more to do.

        Args:
            is_first: whether the previous attempt failed for an earlier event, or there was none.
        """
        failures = 1 if is_first else position.failures + 1
        if isinstance(failure.error, EventRejected) or failures >= MAX_ATTEMPTS:
            return self._give_up(position, failure)
        if failures == 1:
            # Only the first time, because a sink may be unavailable for hours.
            logger.warning("The event sink %s failed; retrying", self.sink.name, exc_info=failure.error)
        failed = replace(position, failures=failures)
        self._positions.save(failed, retry_in=RETRIES.delay(failures), release=True)
        return None

    def _give_up(self, position: Position, failure: _Failure) -> Position | None:
        """Store an event as a dead letter, and continue after it."""
        event, kind = failure.event, type(failure.error)
        logger.error("The event sink %s refused %s", self.sink.name, event.id, exc_info=failure.error)
        dead = DeadLetter(
            self.sink.name,
            event.stream,
            event.sequence,
            event.type,
            # Only the type: the text of an exception may contain secrets, such as a URL.
            f"{kind.__module__}.{kind.__qualname__}"[:255],
            self._clock.now(),
        )
        passed = replace(position, position=event.sequence, failures=0)
        return self._save(passed, dead=dead, release=False)

    def _save(
        self, position: Position, *, dead: DeadLetter | None = None, release: bool
    ) -> Position | None:
        """Store a position, and return it if the claim continues."""
        is_owned = self._positions.save(position, dead=dead, release=release)
        return position if is_owned and not release else None


class _SinkThread:
    """The thread of one sink, and the streams that it has to look at."""

    def __init__(self, delivery: SinkDelivery) -> None:
        self._delivery = delivery
        self._lock = Lock()
        self._streams: set[str] = set()
        self._woken = Flag()
        self._stopped = Flag()
        # A daemon, because a sink that hangs must not keep the process from ending.
        self._thread = Thread(target=self._run, name=f"events {self.name}", daemon=True)

    @property
    def name(self) -> str:
        return self._delivery.sink.name

    def start(self) -> None:
        self._thread.start()

    def wake(self, streams: Collection[str]) -> None:
        with self._lock:
            self._streams.update(streams)
        self._woken.set()

    def stop(self, seconds: float) -> None:
        self._stopped.set()
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._woken.wait()
            self._woken.clear()
            self._work()
            # Commits that follow each other closely are claimed and delivered together.
            self._stopped.wait(_GATHER_SECONDS)

    def _work(self) -> None:
        with self._lock:
            # Exchanged under the lock: a stream that is woken during the delivery is delivered again.
            streams, self._streams = self._streams, set()
        try:
            contended = self._delivery.deliver(streams) if streams else set()
        except StrongroomError:
            # The database is unavailable, which is logged already; the next poll finds the streams.
            return
        except Exception:
            logger.exception("Events could not be delivered to %s", self.name)
            return
        if contended and not self._stopped.wait(_CONTENDED_SECONDS):
            self.wake(contended)


class EventDelivery:
    """The delivery of one process."""

    def __init__(
        self, database: Database, log: CommittedEvents, positions: Positions, clock: Clock
    ) -> None:
        self._database = database
        self._log = log
        self._positions = positions
        self._clock = clock
        self._stopped = Flag()
        self._polls = 0
        self._initialized: set[str] = set()
        self._sinks: list[EventSink] = []
        self._threads: list[_SinkThread] = []
        self._poller = Thread(target=self._poll, name="events", daemon=True)

    @property
    def sinks(self) -> Sequence[EventSink]:
        """All sinks."""
        return self._sinks

    def add(self, sink: EventSink) -> None:
        """Add a sink, before :meth:`start`."""
        self._sinks.append(sink)

    def start(self) -> None:
        """Start the threads, if there are sinks. Call it in a process that serves requests."""
        if not self._sinks:
            return
        self._threads = [_SinkThread(self._delivery(sink, self._stopped.is_set)) for sink in self._sinks]
        # If the database is unavailable, the poller does it later.
        with suppress(StrongroomError):
            self._initialize()
        # Before the threads start, so that no commit in between has to wait for the next poll.
        self._database.commits.subscribe(self._wake)
        for thread in self._threads:
            thread.start()
        self._poller.start()

    def close(self, seconds: float = 10) -> None:
        """Stop after the current batches, and close the sinks."""
        self._stopped.set()
        self._database.commits.unsubscribe(self._wake)
        for thread in self._threads:
            thread.stop(seconds)
        if self._poller.is_alive():
            # The database is closed next, and would not close a connection in use.
            self._poller.join(seconds)
        for sink in self._sinks:
            try:
                sink.close()
            except Exception:
                logger.exception("The event sink %s failed to close", sink.name)

    def deliver_all(self) -> None:
        """Deliver everything that is due, in this thread; for commands and tests."""
        self._log.prepare()
        self._initialize()
        for sink in self._sinks:
            self._delivery(sink).deliver(self._pending(sink, since=None))

    def _delivery(
        self, sink: EventSink, should_stop: Callable[[], bool] = lambda: False
    ) -> SinkDelivery:
        return SinkDelivery(sink, self._log, self._positions, self._clock, should_stop)

    def _wake(self, topics: Collection[str]) -> None:
        streams = {*topics} - {UNSEALED}
        for thread in self._threads:
            thread.wake(streams)

    def _poll(self) -> None:
        while not self._stopped.is_set():
            try:
                self._look()
            except StrongroomError:
                # The database is unavailable, which is logged already.
                pass
            except Exception:
                logger.exception("The database could not be searched for events")
            self._stopped.wait(POLL_SECONDS)

    def _look(self) -> None:
        self._initialize()
        # All streams at the start, and again every 10 minutes: the clock of another machine may differ
        # by more than the recent time.
        is_full_scan = self._polls % _POLLS_PER_FULL_SCAN == 0
        since = None if is_full_scan else self._clock.now() - _RECENT
        for thread, sink in zip(self._threads, self._sinks, strict=True):
            if streams := self._pending(sink, since):
                thread.wake(streams)
        self._polls += 1

    def _initialize(self) -> None:
        """Let new sinks start at the ends of all streams."""
        for sink in self._sinks:
            if sink.name in self._initialized:
                continue
            self._log.prepare()
            with self._database.write() as connection:
                # Only the process that adds the sink reads the ends: a second one would skip events in
                # between.
                if self._positions.add(connection, sink.name):
                    self._positions.start_at(connection, sink.name, self._log.heads(connection))
            self._initialized.add(sink.name)

    def _pending(self, sink: EventSink, since: int | None) -> set[str]:
        with self._database.read() as connection:
            heads = self._log.heads(connection, since)
            behind = self._positions.behind(connection, sink.name, heads)
            return behind | self._positions.due(connection, sink.name)
