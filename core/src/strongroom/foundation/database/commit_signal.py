"""Notifies listeners of this process after a transaction has committed.

Delivery of events and waiting requests are woken by it. It only saves them time: they find the changes
of other processes, and those whose notification was lost in a crash, by reading the database.
"""

from collections.abc import Callable, Collection
from typing import Final

from sqlalchemy import Connection

from strongroom.foundation.database.transaction_state import get_transaction_state

Listener = Callable[[Collection[str]], None]
"""Called with topics, on the thread that has committed; must return quickly and not raise."""


UNSEALED: Final = "unsealed-audit-events"
"""The topic of audit events without a place in the chain; all others are streams of events."""


class CommitSignal:
    """The listeners of one database."""

    def __init__(self) -> None:
        self._listeners: tuple[Listener, ...] = ()

    def subscribe(self, listener: Listener) -> None:
        """Call a listener after each transaction that has marked topics."""
        self._listeners = (*self._listeners, listener)

    def unsubscribe(self, listener: Listener) -> None:
        """Stop calling a listener."""
        self._listeners = tuple(item for item in self._listeners if item != listener)

    def notify(self, topics: Collection[str]) -> None:
        """Call all listeners, if there are topics."""
        if topics:
            for listener in self._listeners:
                listener(topics)


def mark_topic(connection: Connection, topic: str) -> None:
    """Notify listeners about a topic after the commit of the caller's writing transaction."""
    get_transaction_state(connection).topics.add(topic)
