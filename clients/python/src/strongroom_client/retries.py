"""When an operation is sent again."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import httpx

from .errors import ApiError, ConnectionFailed
from .operations import Operation

_TOO_MANY: Final = 429
_RUNNING: Final = "error.idempotency-running"
_TEMPORARY: Final = frozenset({502, 503, 504})
_LOCKED: Final = 423
_LOCKED_ATTEMPTS: Final = 30
"""A request on a dead connection locks its upload for up to 20 seconds; each attempt waits for one."""

_PIECE_STATUSES: Final = frozenset({409, 429, 460, *_TEMPORARY})
"""Refusals after which an upload continues: its offset differs, or a piece was damaged."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a client tries, and how long it waits.

    After a lost response only idempotent methods and requests with an ``Idempotency-Key`` are retried,
    because the server may have acted on others.

    Args:
        attempts: attempts in all.
        first_wait: seconds before the second attempt, which double with each further one.
        longest_wait: the longest time to wait, in seconds. A longer ``Retry-After`` ends the attempts.
        on_wait: called before each wait with the seconds and the fault.
    """

    attempts: int = 4
    first_wait: float = 0.5
    longest_wait: float = 60.0
    on_wait: Callable[[float, Exception], None] | None = None

    def wait_after(self, operation: Operation[Any], attempt: int, fault: Exception) -> float | None:
        """Return the seconds until the next attempt of an operation, or ``None`` after the last one."""
        if not operation.is_repeatable or not _may_repeat(operation, fault):
            return None
        return self._reported(self._wait(attempt, fault), fault)

    def wait_after_piece(self, attempt: int, fault: Exception) -> float | None:
        """Return the seconds until a piece of an upload is tried again, from the server's offset."""
        return self._reported(self._wait_after_piece(attempt, fault), fault)

    def _wait_after_piece(self, attempt: int, fault: Exception) -> float | None:
        if not isinstance(fault, ApiError):
            return self._wait(attempt, fault)
        if fault.status == _LOCKED and attempt < _LOCKED_ATTEMPTS:
            return fault.retry_after or self.first_wait
        return self._wait(attempt, fault) if fault.status in _PIECE_STATUSES else None

    def _reported(self, wait: float | None, fault: Exception) -> float | None:
        if wait is not None and self.on_wait is not None:
            self.on_wait(wait, fault)
        return wait

    def _wait(self, attempt: int, fault: Exception) -> float | None:
        if attempt >= self.attempts:
            return None
        if isinstance(fault, ApiError) and fault.retry_after is not None:
            return fault.retry_after if fault.retry_after <= self.longest_wait else None
        backoff: float = min(self.first_wait * 2 ** (attempt - 1), self.longest_wait)
        # Clients that failed together must not come back together.
        return backoff * random.uniform(0.5, 1)  # noqa: S311  not for secrets


def _may_repeat(operation: Operation[Any], fault: Exception) -> bool:
    if isinstance(fault, ApiError):
        if fault.code == _RUNNING:
            # The server is still processing the first attempt, whose response was lost.
            return True
        # The refused request has used the captcha up.
        is_later = fault.status == _TOO_MANY and not operation.has_captcha
        return is_later or (operation.is_idempotent and fault.status in _TEMPORARY)
    was_sent = not isinstance(fault, httpx.ConnectError | httpx.ConnectTimeout)
    return operation.is_idempotent or not (was_sent or isinstance(fault, ConnectionFailed))
