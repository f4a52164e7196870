"""Verifies the chain of audit records in steps of limited time, for pages."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import ClassVar, Final

from strongroom.activity.audit.chain import Link
from strongroom.activity.audit.verifier import AuditVerifier, ChainBroken
from strongroom.clock import Clock
from strongroom.foundation.errors import Unavailable

STEP_SECONDS: Final = 2.0
"""The time limit of a step."""


@dataclass(frozen=True, slots=True)
class VerifiedPart:
    """How far the chain was verified.

    Args:
        through: the number of the last valid record.
        newest: the number of the newest record.
        fault: the first invalid record, if there is one.
        checked_at: in milliseconds since the Unix epoch.
    """

    through: int
    newest: int
    fault: ChainBroken | None
    checked_at: int


class StepwiseVerification:
    """Verifies a part of the chain per call, and continues it with the next call.

    Args:
        now: a monotonic clock in seconds.
    """

    patience: ClassVar = STEP_SECONDS
    """Seconds to wait for another thread that verifies."""

    def __init__(
        self, verifier: AuditVerifier, clock: Clock, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._verifier = verifier
        self._clock = clock
        self._now = now
        self._lock = Lock()
        self._reached: Link | None = None

    def step(self) -> VerifiedPart:
        """Verify for up to two seconds. After a complete chain or a fault, begin at the first record.

        Raises:
            Unavailable: other threads verify, one after the other.
        """
        if not self._lock.acquire(timeout=self.patience):
            raise Unavailable
        try:
            return self._step()
        finally:
            self._lock.release()

    def _step(self) -> VerifiedPart:
        newest, checked_at = self._verifier.newest(), self._clock.now()
        deadline = self._now() + STEP_SECONDS
        after, self._reached = self._reached, None
        try:
            verified = self._verifier.verify(after=after, should_stop=lambda: self._now() >= deadline)
        except ChainBroken as error:
            return VerifiedPart(error.sequence - 1, newest, error, checked_at)
        if verified.last.sequence < newest:
            self._reached = verified.last
        return VerifiedPart(verified.last.sequence, newest, None, checked_at)
