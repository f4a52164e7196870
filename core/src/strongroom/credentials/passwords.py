"""Password hashes: bcrypt over a keyed pre-hash, a bounded number at a time."""

import base64
import hmac
import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from threading import BoundedSemaphore
from typing import Final

import bcrypt

from strongroom.errors import Unavailable

MAX_LENGTH: Final = 1024
_WAIT_SECONDS: Final = 30
_RETRY_SECONDS: Final = 2


class HashQueue:
    """Slots for hashes that run at once, and a bounded queue of requests that wait for a slot.

    Each waiting request holds one of the server's threads, so an unbounded queue would let a flood of
    expensive requests stop all others.

    Args:
        slots: hashes computed at once.
        length: requests that may wait for a slot.
    """

    def __init__(self, slots: int, length: int) -> None:
        self._slots = BoundedSemaphore(slots)
        self._places = BoundedSemaphore(slots + length)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Hold a slot until the block ends; wait for one if the queue has room.

        Raises:
            Unavailable: the queue is full, or no slot became free in time.
        """
        if not self._places.acquire(blocking=False):
            raise Unavailable(retry_after=_RETRY_SECONDS)
        try:
            if not self._slots.acquire(timeout=_WAIT_SECONDS):
                raise Unavailable(retry_after=_RETRY_SECONDS)
            try:
                yield
            finally:
                self._slots.release()
        finally:
            self._places.release()


class PasswordHasher:
    """Hashes and verifies.

    bcrypt reads 72 bytes at most and stops at NUL; the pre-hash (HMAC-SHA-256, then base64) makes
    every character of any length count, and a stolen table worthless without the key.

    Logins have a queue of their own, so that no flood of new passwords can delay them.

    Args:
        key: the key of the pre-hash; hashes are void without it.
        cost: the logarithm of the number of rounds.
        in_flight: hashes computed at once in each of the two queues; 0: one for each two cores.
        queue_length: requests that may wait in each queue.
        watch: is entered for each hash, from when it is wanted to when it is there.
    """

    def __init__(
        self,
        key: bytes,
        *,
        cost: int,
        in_flight: int = 0,
        queue_length: int = 16,
        watch: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._key = key
        self._cost = cost
        self._watch = watch
        slots = in_flight or max(1, (os.cpu_count() or 1) // 2)
        self._logins = HashQueue(slots, queue_length)
        self._others = HashQueue(slots, queue_length)

    def hash(self, password: str) -> str:
        """Return the hash of a password, with its cost and salt in it.

        Raises:
            Unavailable: the queue is full.
        """
        with self._watch(), self._others.slot():
            return bcrypt.hashpw(self._prehash(password), bcrypt.gensalt(self._cost)).decode()

    def verify(self, password: str, stored: str | None, *, login: bool = True) -> bool:
        """Return whether a password fits a hash; without a hash it takes as long to say no.

        So it does with a hash of a lower cost, which is left from before the cost was raised.

        Args:
            password: the password.
            stored: the hash, if there is one.
            login: whether to use the queue of logins, or that of new passwords.

        Raises:
            Unavailable: the queue is full.
        """
        # Made by the first caller, known or not, so that it reveals nothing.
        nobody = self._nobody
        queue = self._logins if login else self._others
        with self._watch(), queue.slot():
            fits = self._check(self._prehash(password), stored or nobody)
        return fits and stored is not None

    def is_outdated(self, stored: str) -> bool:
        """Return whether a hash was made at another cost than hashes are made now."""
        return _cost_of(stored) != self._cost

    def _check(self, prehash: bytes, target: str) -> bool:
        fits = bcrypt.checkpw(prehash, target.encode())
        if not fits:
            # A cost has twice the rounds of the one below it: 2^c and all from there make up 2^cost.
            for cost in range(_cost_of(target), self._cost):
                bcrypt.hashpw(prehash, bcrypt.gensalt(cost))
        return fits

    @cached_property
    def _nobody(self) -> str:
        return bcrypt.hashpw(b"nobody", bcrypt.gensalt(self._cost)).decode()

    def _prehash(self, password: str) -> bytes:
        normalized = unicodedata.normalize("NFC", password).encode()
        return base64.b64encode(hmac.digest(self._key, normalized, "sha256"))


def _cost_of(stored: str) -> int:
    return int(stored.split("$")[2])
