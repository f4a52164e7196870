"""What the asynchronous and the synchronous client do differently.

``_sync`` is generated from ``_async``: the generator replaces asynchronous names by their counterparts.
"""

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import ParamSpec, TypeAlias, TypeVar

import anyio
import anyio.to_thread

Parameters = ParamSpec("Parameters")
Returned = TypeVar("Returned")

AsyncLock: TypeAlias = anyio.Lock
Lock: TypeAlias = threading.Lock


async def async_sleep(seconds: float) -> None:
    """Wait."""
    await anyio.sleep(seconds)


def sleep(seconds: float) -> None:
    """Wait."""
    time.sleep(seconds)


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


def async_shielded() -> AbstractContextManager[object]:
    """Return a context in which a task cannot be cancelled."""
    return anyio.CancelScope(shield=True)


def shielded() -> AbstractContextManager[object]:
    """Return a context; a thread cannot be cancelled."""
    return nullcontext()
