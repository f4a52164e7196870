"""The interfaces of Granian's objects, and how to await them without an event loop."""

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

Message = Mapping[str, Any]
Callback = Callable[["Future"], None]


class Future(Protocol):
    """A future of Granian's, with the interface of ``asyncio.Future``."""

    def done(self) -> bool:
        """Return whether the result is available."""

    def result(self) -> Any:
        """Return the result."""

    def cancel(self) -> bool:
        """Cancel the operation."""

    def cancelled(self) -> bool:
        """Return whether the operation was cancelled."""

    def add_done_callback(self, callback: Callback) -> None:
        """Register a callback for the result."""


class HttpProtocol(Protocol):
    """One request and its response, as in Granian's ASGI interface."""

    def receive(self) -> Future:
        """Receive the next piece of the body, or the disconnection of the client."""

    def send(self, message: dict[str, Any]) -> Any:
        """Send a part of the response; returns a :class:`Future` if Granian's queue is full."""


class CallbackLoop:
    """A substitute for the event loop: runs callbacks on the thread that sets the result.

    That is a thread of Granian's pool, so no other thread has to be woken up.
    """

    def call_soon_threadsafe(self, callback: Callback, future: Future, **_: object) -> None:
        """Run a callback immediately, on this thread."""
        callback(future)

    def call_soon(self, callback: Callback, future: Future, **_: object) -> None:
        """Run a callback whose result arrived during its registration; not within that call."""
        # Granian also calls back after a cancellation, which the canceller has handled already.
        if not future.cancelled():
            threading.Thread(target=callback, args=[future], name="callback").start()


def when_done(future: Future, callback: Callback) -> bool:
    """Return ``True`` if the result is available; otherwise register the callback for it."""
    # If the result arrives between these two lines, Granian calls ``call_soon``; see CallbackLoop.
    if future.done():
        return True
    future.add_done_callback(callback)
    return False


def is_pending(sent: Any) -> bool:
    """Return whether the result of ``send`` is a future that must be awaited."""
    return hasattr(sent, "add_done_callback")
