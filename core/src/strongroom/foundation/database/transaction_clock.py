"""One transaction of a thread at a time, and the time of its changes."""

from dataclasses import dataclass
from threading import local

from strongroom.clock import Clock


class OneTransaction(local):
    """Refuses a transaction within another of the same thread, and keeps the times in it."""

    times: dict[Clock, int] | None = None
    """The readings of the clocks in the transaction; ``None`` outside of transactions."""

    def __enter__(self) -> None:
        if self.times is not None:
            raise RuntimeError("a transaction was begun within another; end the first before this call")
        self.times = {}

    def __exit__(self, *_: object) -> None:
        self.times = None

    def restart(self) -> None:
        """Begin the work of another request in the same transaction; it has a time of its own."""
        self.times = {}


@dataclass(slots=True, eq=False, repr=False)
class TransactionClock:
    """A clock that is read once in a transaction, as SQL's ``CURRENT_TIMESTAMP``.

    All rows that a transaction writes have the same time, for example a node, its event and its grant.
    Outside of transactions it is the underlying clock.
    """

    _clock: Clock
    _transaction: OneTransaction

    def now(self) -> int:
        times = self._transaction.times
        if times is None:
            return self._clock.now()
        time = times.get(self)
        if time is None:
            time = times[self] = self._clock.now()
        return time
