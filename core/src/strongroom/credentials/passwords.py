"""Password hashes: bcrypt over a keyed pre-hash, a bounded number at a time."""

import base64
import hmac
import os
import unicodedata
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from threading import BoundedSemaphore
from typing import Final, TypeVar

import bcrypt

from strongroom.errors import Unavailable

T = TypeVar("T")

MAX_LENGTH: Final = 1024
_WAIT_SECONDS: Final = 30


class PasswordHasher:
    """Hashes and verifies.

    bcrypt reads 72 bytes at most and stops at NUL; the pre-hash (HMAC-SHA-256, then base64) makes
    every character of any length count, and a stolen table worthless without the key.

    Args:
        key: the key of the pre-hash; hashes are void without it.
        cost: the logarithm of the number of rounds.
        in_flight: hashes computed at once; others wait, so that logins do not starve the rest.
        watch: is entered for each hash, from when it is wanted to when it is there.
    """

    def __init__(
        self,
        key: bytes,
        *,
        cost: int,
        in_flight: int = 0,
        watch: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._key = key
        self._cost = cost
        self._watch = watch
        self._slots = BoundedSemaphore(in_flight or max(1, (os.cpu_count() or 1) // 2))

    def hash(self, password: str) -> str:
        """Return the hash of a password, with its cost and salt in it."""
        return self._run(
            lambda: bcrypt.hashpw(self._prehash(password), bcrypt.gensalt(self._cost)).decode()
        )

    def verify(self, password: str, stored: str | None) -> bool:
        """Return whether a password fits a hash; without a hash it takes as long to say no.

        So it does with a hash of a lower cost, which is left from before the cost was raised.
        """
        # Made by whoever comes first, known or not, so that it tells nothing.
        nobody = self._nobody
        fits = self._run(lambda: self._check(self._prehash(password), stored or nobody))
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

    def _run(self, work: Callable[[], T]) -> T:
        with self._watch():
            if not self._slots.acquire(timeout=_WAIT_SECONDS):
                raise Unavailable(retry_after=_WAIT_SECONDS)
            try:
                return work()
            finally:
                self._slots.release()


def _cost_of(stored: str) -> int:
    return int(stored.split("$")[2])
