"""What the transactions of a request do before they commit, such as recording that it had an effect."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Final, TypeVar

from sqlalchemy import Connection

T = TypeVar("T")

Effect = Callable[[Connection], None]
"""Changes rows in a transaction that is about to commit. An error rolls the transaction back."""

_CURRENT: Final[ContextVar[Effect | None]] = ContextVar("effect", default=None)


@contextmanager
def before_commits(effect: Effect) -> Iterator[None]:
    """Run a function before the commit of each writing transaction of this context."""
    token = _CURRENT.set(effect)
    try:
        yield
    finally:
        _CURRENT.reset(token)


@contextmanager
def without_effect() -> Iterator[None]:
    """Run no function before the commits of the block, because they prepare or undo an effect."""
    token = _CURRENT.set(None)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def apply_effect(connection: Connection) -> None:
    """Run the function of this context, if there is one."""
    if (effect := _CURRENT.get()) is not None:
        effect(connection)


def with_effect(work: Callable[[Connection], T]) -> Callable[[Connection], T]:
    """Return work, which another thread may run, followed by the function of this context."""
    effect = _CURRENT.get()
    if effect is None:
        return work

    @wraps(work)
    def followed(connection: Connection) -> T:
        result = work(connection)
        effect(connection)
        return result

    return followed
