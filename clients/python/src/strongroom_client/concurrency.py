"""What the asynchronous and the synchronous client do differently.

``_sync`` is generated from ``_async``: the generator replaces asynchronous names by their counterparts.
"""

import asyncio
import threading
import time
from collections.abc import AsyncIterable, Awaitable, Callable, Coroutine, Iterable
from typing import Any, BinaryIO, Final, ParamSpec, TypeAlias, TypeVar

import anyio
import anyio.to_thread

from .files import spooled

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

_PIECE_SECONDS: Final = 0.5

AsyncLock: TypeAlias = anyio.Lock
Lock: TypeAlias = threading.Lock


AsyncSleep: TypeAlias = Callable[[float], Awaitable[None]]
Sleep: TypeAlias = Callable[[float], None]


async def async_sleep(seconds: float) -> None:
    """Wait."""
    await anyio.sleep(seconds)


def sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


async def async_waited(event: threading.Event, seconds: float) -> bool:
    """Return whether an event happens within a time."""
    # The thread of a cancelled task ends with the event.
    return await anyio.to_thread.run_sync(event.wait, seconds, abandon_on_cancel=True)


def waited(event: threading.Event, seconds: float) -> bool:
    """Return whether an event happens within a time."""
    deadline = time.monotonic() + seconds
    # In pieces, because Ctrl-C does not end a wait on Windows.
    while (left := deadline - time.monotonic()) > 0:
        if event.wait(min(left, _PIECE_SECONDS)):
            return True
    return event.is_set()


async def async_in_thread(
    function: Callable[Parameters, Returned], *arguments: Parameters.args, **options: Parameters.kwargs
) -> Returned:
    """Call a function that blocks, such as one that reads a file, without blocking the event loop."""
    return await anyio.to_thread.run_sync(lambda: function(*arguments, **options))


def in_thread(
    function: Callable[Parameters, Returned], *arguments: Parameters.args, **options: Parameters.kwargs
) -> Returned:
    """Call a function."""
    return function(*arguments, **options)


async def async_completed(
    function: Callable[Parameters, Coroutine[Any, Any, Returned]],
    *arguments: Parameters.args,
    **options: Parameters.kwargs,
) -> Returned:
    """Call a function that runs to its end, although the calling task is cancelled meanwhile.

    The cancellation takes effect afterwards.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        with anyio.CancelScope(shield=True):
            return await function(*arguments, **options)
    # The scopes of anyio do not shield from asyncio's own cancellation, such as that of asyncio.timeout.
    return await _completed_task(asyncio.ensure_future(function(*arguments, **options)))


async def _completed_task(task: "asyncio.Future[Returned]") -> Returned:
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        # The result, or the error, has no receiver any more.
        _ = None if task.cancelled() else task.exception()
        raise cancelled
    return task.result()


def completed(
    function: Callable[Parameters, Returned], *arguments: Parameters.args, **options: Parameters.kwargs
) -> Returned:
    """Call a function; a thread cannot be cancelled."""
    return function(*arguments, **options)


AsyncPieces: TypeAlias = Iterable[bytes] | AsyncIterable[bytes]
Pieces: TypeAlias = Iterable[bytes]


async def async_spool(pieces: AsyncPieces) -> BinaryIO:
    """Write pieces of unknown length to a temporary file."""
    if not isinstance(pieces, AsyncIterable):
        return await async_in_thread(spooled, pieces)
    file = spooled(())
    async for piece in pieces:
        await async_in_thread(file.write, piece)
    file.seek(0)
    return file


def spool(pieces: Pieces) -> BinaryIO:
    """Write pieces of unknown length to a temporary file."""
    return spooled(pieces)
