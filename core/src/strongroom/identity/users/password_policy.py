"""Passwords: how strong one must be, and how it is hashed."""

import base64
import hmac
import os
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, cached_property
from threading import BoundedSemaphore
from time import monotonic
from typing import Final, Literal

import bcrypt

from strongroom.foundation.errors import Detail, Unavailable

Strength = Literal["low", "medium", "high"]

# The running time of zxcvbn grows faster than the length, so only the first characters are scored.
_ZXCVBN_LENGTH: Final = 72
# Minimum scores of zxcvbn, which range from 0 to 4.
_MEDIUM, _HIGH = 2, 4


def strength(password: str) -> Strength:
    """Return the strength of a password."""
    # Imported lazily: the word lists take 0.1 s to load, and only new passwords need them.
    from zxcvbn import zxcvbn

    if not password:
        return "low"
    score = zxcvbn(password[:_ZXCVBN_LENGTH], max_length=_ZXCVBN_LENGTH)["score"]
    return "low" if score < _MEDIUM else "medium" if score < _HIGH else "high"


def is_common(password: str) -> bool:
    """Return whether a password is one of zxcvbn's 30,000 most common ones."""
    return password.casefold() in _common_passwords()


@cache
def _common_passwords() -> frozenset[str]:
    from zxcvbn.frequency_lists import FREQUENCY_LISTS

    return frozenset(FREQUENCY_LISTS["passwords"])


MIN_LENGTH: Final = 8


def password_faults(password: str, field: str = "password") -> list[Detail]:
    """Return the rules of the policy that a password breaks.

    The rules: 8 to 1024 characters, an uppercase and a lowercase letter, a digit, not a common password.
    """
    rules = [
        (len(password) >= MIN_LENGTH, "too-short", f"Needs at least {MIN_LENGTH} characters."),
        (len(password) <= MAX_LENGTH, "too-long", f"May have at most {MAX_LENGTH} characters."),
        (any(char.isupper() for char in password), "no-uppercase", "Needs an uppercase letter."),
        (any(char.islower() for char in password), "no-lowercase", "Needs a lowercase letter."),
        (any(char.isdigit() for char in password), "no-digit", "Needs a digit."),
        (not is_common(password), "too-common", "Is a commonly used password."),
    ]
    return [Detail(field, code, message) for holds, code, message in rules if not holds]


MAX_LENGTH: Final = 1024
_WAIT_SECONDS: Final = 30
_RETRY_SECONDS: Final = 2


class HashQueue:
    """Slots for concurrent hashes, and a bounded queue of requests that wait for a slot.

    Each waiting request holds a thread and memory, so the queue is bounded.

    Args:
        slots: hashes computed concurrently.
        length: requests that may wait for a slot.
        on_wait: receives the seconds that each request has waited.
        on_block: called on the thread of each request before it waits.
    """

    def __init__(
        self,
        slots: int,
        length: int,
        on_wait: Callable[[float], None],
        on_block: Callable[[], None],
    ) -> None:
        self._on_wait = on_wait
        self._on_block = on_block
        self._slots = BoundedSemaphore(slots)
        # Counts running and waiting requests.
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
            self._acquire_slot()
            try:
                yield
            finally:
                self._slots.release()
        finally:
            self._places.release()

    def _acquire_slot(self) -> None:
        began = monotonic()
        if not self._slots.acquire(blocking=False):
            self._on_block()
            if not self._slots.acquire(timeout=_WAIT_SECONDS):
                raise Unavailable(retry_after=_RETRY_SECONDS)
        self._on_wait(monotonic() - began)


class PasswordHasher:
    """Hashes and verifies passwords.

    bcrypt reads at most 72 bytes and stops at NUL. With the pre-hash (HMAC-SHA-256, then base64), every
    character of a password counts, and a stolen table is worthless without the key.

    Logins have their own queue, so that a flood of new passwords cannot delay them.

    Args:
        key: the key of the pre-hash; hashes cannot be verified without it.
        cost: the base-2 logarithm of the number of rounds.
        max_concurrent: concurrent hashes in each of the two queues; 0: one per two cores.
        queue_length: requests that may wait in each queue.
        watch: a context manager around each hash, including the wait for a slot.
        on_wait: receives the seconds that each request has waited for a slot.
        on_block: called on the thread of each request before it waits for a slot.
    """

    def __init__(
        self,
        key: bytes,
        *,
        cost: int,
        max_concurrent: int = 0,
        queue_length: int = 64,
        watch: Callable[[], AbstractContextManager[None]] = nullcontext,
        on_wait: Callable[[float], None] = lambda _seconds: None,
        on_block: Callable[[], None] = lambda: None,
    ) -> None:
        self._key = key
        self._cost = cost
        self._watch = watch
        slots = max_concurrent or max(1, (os.cpu_count() or 1) // 2)
        self._logins = HashQueue(slots, queue_length, on_wait, on_block)
        self._others = HashQueue(slots, queue_length, on_wait, on_block)

    def hash(self, password: str) -> str:
        """Return the bcrypt hash of a password, which includes its cost and salt.

        Raises:
            Unavailable: the queue is full.
        """
        with self._watch(), self._others.slot():
            return bcrypt.hashpw(self._prehash(password), bcrypt.gensalt(self._cost)).decode()

    def verify(self, password: str, stored: str | None, *, login: bool = True) -> bool:
        """Return whether a password matches a hash.

        A failure takes the same time without a hash, and with a hash from before the cost was raised,
        so the time does not reveal whether the user exists.

        Args:
            stored: the stored hash; ``None`` if there is no such user or password.
            login: whether to use the queue of logins instead of that of new passwords.

        Raises:
            Unavailable: the queue is full.
        """
        # Computed by the first caller, whether or not the user exists, so its time reveals nothing.
        dummy = self._dummy_hash
        queue = self._logins if login else self._others
        with self._watch(), queue.slot():
            matches = self._check(self._prehash(password), stored or dummy)
        return matches and stored is not None

    def is_outdated(self, stored: str) -> bool:
        """Return whether the cost of a hash differs from the configured cost."""
        return _cost_of(stored) != self._cost

    def _check(self, prehash: bytes, target: str) -> bool:
        matches = bcrypt.checkpw(prehash, target.encode())
        if not matches:
            # Pad to the time of the configured cost: 2^c + (2^c + 2^(c+1) + ... + 2^(cost-1)) = 2^cost.
            for cost in range(_cost_of(target), self._cost):
                bcrypt.hashpw(prehash, bcrypt.gensalt(cost))
        return matches

    @cached_property
    def _dummy_hash(self) -> str:
        """The hash that is checked if there is no user or no password."""
        return bcrypt.hashpw(b"dummy", bcrypt.gensalt(self._cost)).decode()

    def _prehash(self, password: str) -> bytes:
        # NFC, because keyboards differ in how they compose accented characters.
        normalized = unicodedata.normalize("NFC", password).encode()
        return base64.b64encode(hmac.digest(self._key, normalized, "sha256"))


def _cost_of(stored: str) -> int:
    return int(stored.split("$")[2])
