"""What this package uses of Granian's objects, and how it awaits them without an event loop."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

Message = Mapping[str, Any]
Callback = Callable[["Future"], None]


class Future(Protocol):
    """A result of Granian's that may not be there yet."""

    def done(self) -> bool:
        """Return whether the result is there."""

    def result(self) -> Any:
        """Return the result."""

    def cancel(self) -> bool:
        """Give up the operation."""

    def cancelled(self) -> bool:
        """Return whether the operation was given up."""

    def add_done_callback(self, callback: Callback) -> None:
        """Call back once the result is there."""


class HttpProtocol(Protocol):
    """One request and its response, as Granian's ASGI interface has them."""

    def receive(self) -> Future:
        """Ask for the next piece of the body, or for the end of the connection."""

    def send(self, message: dict[str, Any]) -> Any:
        """Send a part of the response; returns a :class:`Future` if that has to wait."""


class CallbackLoop:
    """Stands where Granian expects an event loop, and runs callbacks where results arrive.

    That is a thread of Granian's pool, so nothing has to wake another thread first.
    """

    def call_soon_threadsafe(self, callback: Callback, future: Future, **_: object) -> None:
        """Run a callback on this thread, which has set the result."""
        callback(future)

    def call_soon(self, callback: Callback, future: Future, **_: object) -> None:
        """Run a callback whose result came while it was registered; not within that call."""
        # Granian calls back after a cancellation, too, of which its author knows already.
        if not future.cancelled():
            threading.Thread(target=callback, args=[future], name="callback").start()


def when_done(future: Future, callback: Callback) -> bool:
    """Call back once a result is there, unless it is there already; return whether it was."""
    if future.done():
        return True
    future.add_done_callback(callback)
    return False


def is_pending(sent: Any) -> bool:
    """Return whether what ``send`` has returned must be waited for."""
    return hasattr(sent, "add_done_callback")
