"""The hashes of passwords: of our own scheme, and of the schemes of other systems."""

import logging
import os
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from threading import BoundedSemaphore, Lock
from time import monotonic, sleep
from types import MappingProxyType
from typing import Any, Final

from strongroom.foundation.errors import Unavailable
from strongroom.identity.users.models import OWN_SCHEME
from strongroom.plugin_api.password_schemes import HashRejected, NewPasswordScheme, PasswordScheme

logger = logging.getLogger(__name__)

_WAIT_SECONDS: Final = 30
_RETRY_SECONDS: Final = 2

_KEY: Final = "keyFingerprint"
_DIGEST: Final = "digest"
_MAX_COST: Final = 64


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


@dataclass(frozen=True, slots=True)
class StoredPassword:
    """A password as stored; see :data:`strongroom.identity.users.models.passwords`."""

    hash: str = field(repr=False)
    scheme: str = OWN_SCHEME
    cost: str = ""


class KeyMismatch(HashRejected):
    """A hash was made with the secret key of another installation."""


class PasswordHasher:
    """Hashes passwords by the server's own scheme, and verifies hashes of all schemes.

    Logins have their own queue, so that a flood of new passwords cannot delay them.

    Args:
        own: the scheme of new passwords.
        imported: the schemes of imported hashes, by name.
        fingerprint: identifies the secret key, without which hashes of the own scheme are worthless.
        max_concurrent: concurrent hashes in each of the two queues; 0: one per two cores.
        queue_length: requests that may wait in each queue.
        watch: a context manager around each hash, including the wait for a slot.
        on_wait: receives the seconds that each request has waited for a slot.
        on_block: called on the thread of each request before it waits for a slot.
        wait: waits for a number of seconds.
    """

    def __init__(
        self,
        own: NewPasswordScheme,
        imported: Mapping[str, PasswordScheme] = MappingProxyType({}),
        *,
        fingerprint: str = "",
        max_concurrent: int = 0,
        queue_length: int = 64,
        watch: Callable[[], AbstractContextManager[None]] = nullcontext,
        on_wait: Callable[[float], None] = lambda _seconds: None,
        on_block: Callable[[], None] = lambda: None,
        wait: Callable[[float], None] = sleep,
    ) -> None:
        self._own = own
        self._imported = imported
        self._fingerprint = fingerprint
        self._watch = watch
        self._on_block = on_block
        self._wait = wait
        slots = max_concurrent or max(1, (os.cpu_count() or 1) // 2)
        self._logins = HashQueue(slots, queue_length, on_wait, on_block)
        self._others = HashQueue(slots, queue_length, on_wait, on_block)
        self._floor = FailureFloor(self._measure)

    def hash(self, password: str) -> StoredPassword:
        """Return a new password as stored.

        Raises:
            Unavailable: the queue is full.
        """
        with self._watch(), self._others.slot():
            return StoredPassword(self._own.hash(password))

    def imported(self, described: Mapping[str, Any]) -> StoredPassword:
        """Return what is stored for a hash of another system. Slow for digests, which are hashed again.

        Args:
            described: the JSON of the hash; its ``algorithm`` names the scheme.

        Raises:
            HashRejected: no scheme has this name, or the hash is malformed or too expensive.
            KeyMismatch: it was exported from an installation with another secret key.
            Unavailable: the queue is full.
        """
        if _KEY in described:
            return self._of_same_key(described)
        scheme = self._find_scheme(described)
        parsed = scheme.parse(described)
        if "\n" in parsed.text:
            raise HashRejected("hash must be one line")
        if parsed.digest is None:
            return StoredPassword(parsed.text, scheme.name, parsed.cost)
        own = self.hash(parsed.digest).hash
        # The hash of the fast digest has one line, and the parameters of the digest are in the next.
        return StoredPassword(f"{own}\n{parsed.text}", scheme.name, parsed.cost)

    def exported(self, stored: StoredPassword) -> dict[str, str]:
        """Return the JSON of a stored hash, which :meth:`imported` accepts.

        Hashes that our own key has made are marked with its fingerprint.
        """
        first, is_digest, parameters = stored.hash.partition("\n")
        described = {"algorithm": stored.scheme, "hash": first}
        if is_digest:
            described |= {_DIGEST: parameters, "cost": stored.cost}
        if is_digest or stored.scheme == self._own.name:
            described[_KEY] = self._fingerprint
        return described

    def _find_scheme(self, described: Mapping[str, Any]) -> PasswordScheme:
        name = described.get("algorithm")
        scheme = self._imported.get(name) if isinstance(name, str) else None
        if scheme is None:
            raise HashRejected(f"algorithm must be one of: {', '.join(sorted(self._imported))}")
        return scheme

    def _of_same_key(self, described: Mapping[str, Any]) -> StoredPassword:
        """Return an exported hash that our own key has made."""
        if described[_KEY] != self._fingerprint:
            raise KeyMismatch("the hash needs the secret key of the installation that exported it")
        own = self._own.parse(described).text
        if described.get("algorithm") == self._own.name:
            return StoredPassword(own)
        scheme, parameters, cost = (
            self._find_scheme(described),
            described.get(_DIGEST),
            described.get("cost"),
        )
        if not isinstance(parameters, str) or not isinstance(cost, str) or len(cost) > _MAX_COST:
            raise HashRejected(f"{_DIGEST} and cost must be as exported")
        _require_digest(scheme, parameters)
        return StoredPassword(f"{own}\n{parameters}", scheme.name, cost)

    def verify(self, password: str, stored: StoredPassword | None, *, login: bool = True) -> bool:
        """Return whether a password matches a hash.

        A failure computes at least one new hash of the server's own scheme, whatever is stored.

        Args:
            stored: the stored hash; ``None`` if there is no such user or password.
            login: whether to use the queue of logins instead of the queue of new passwords.

        Raises:
            Unavailable: the queue is full.
        """
        return self._timed(password, stored, self._logins if login else self._others)[0]

    def verify_login(
        self, password: str, stored: StoredPassword | None, samples: Sequence[StoredPassword]
    ) -> bool:
        """Do :meth:`verify`; a failure takes the same time, whatever is stored.

        Args:
            samples: one imported hash of each cost that the database has.

        Raises:
            Unavailable: the queue is full.
        """
        floor = self._floor.seconds(samples)
        matches, seconds = self._timed(password, stored, self._logins)
        if stored is not None and not matches:
            self._floor.raise_to(seconds, stored)
        if not matches and seconds < floor:
            self._on_block()
            self._wait(floor - seconds)
        return matches

    def is_outdated(self, stored: StoredPassword) -> bool:
        """Return whether a hash is of another scheme, or of another cost than the configured one."""
        return stored.scheme != self._own.name or self._own.is_outdated(stored.hash)

    def _timed(
        self, password: str, stored: StoredPassword | None, queue: HashQueue
    ) -> tuple[bool, float]:
        """Return whether a password matches, and the seconds that the check took in its slot."""
        # Computed by the first caller, whether or not the user exists, so its time reveals nothing.
        dummy = self._dummy_hash
        with self._watch(), queue.slot():
            began = monotonic()
            matches = self._matches(password, stored or StoredPassword(dummy))
            return matches and stored is not None, monotonic() - began

    def _measure(self, stored: StoredPassword) -> float:
        return self._timed("", stored, self._logins)[1]

    def _matches(self, password: str, stored: StoredPassword) -> bool:
        if stored.scheme == self._own.name:
            return self._matches_own(password, stored.hash)
        try:
            return self._matches_imported(password, stored)
        except (ValueError, MemoryError) as error:
            logger.warning("an imported password cannot be verified: %s", error)
            return self._matches_own(password, self._dummy_hash) and False

    def _matches_imported(self, password: str, stored: StoredPassword) -> bool:
        scheme = self._imported.get(stored.scheme)
        if scheme is None:
            raise HashRejected(f"no enabled plugin has the scheme {stored.scheme}")
        own, is_digest, parameters = stored.hash.partition("\n")
        if is_digest:
            return self._matches_own(scheme.digest(password, parameters), own)
        # A failure also costs a hash of our own, as for users who do not exist.
        return scheme.verify(password, stored.hash) or (
            self._matches_own(password, self._dummy_hash) and False
        )

    def _matches_own(self, password: str, stored: str) -> bool:
        matches = self._own.verify(password, stored)
        if not matches:
            self._own.pad(password, stored)
        return matches

    @cached_property
    def _dummy_hash(self) -> str:
        """The hash that is checked if there is no user or no password."""
        return self._own.hash(secrets.token_urlsafe())


def _require_digest(scheme: PasswordScheme, parameters: str) -> None:
    """Require that a login can compute the digest, whose parameters come from a file."""
    try:
        scheme.digest("", parameters)
    except Exception as error:
        raise HashRejected(f"{_DIGEST} must be as exported") from error


class FailureFloor:
    """The time that a failed login takes at least, while there are imported hashes.

    Without it, a failure would take longer for a user whose imported hash is slower than our own.

    Args:
        measure: returns the seconds of a failed check of a hash.
    """

    MARGIN: Final = 1.25
    """What checks of equal cost differ by while the server is idle."""

    MAX_RAISE: Final = 4.0
    """Bounds by how much a busy server raises the floor."""

    def __init__(self, measure: Callable[[StoredPassword], float]) -> None:
        self._measure = measure
        self._lock = Lock()
        self._measured: dict[tuple[str, str], float] = {}
        self._raised: dict[tuple[str, str], float] = {}

    def raise_to(self, seconds: float, stored: StoredPassword) -> None:
        """Count a failed check that took longer than measured, as all do while the server is busy."""
        key = stored.scheme, stored.cost
        with self._lock:
            if key in self._measured:
                limit = self.MAX_RAISE * self._measured[key]
                self._raised[key] = min(limit, max(self._raised[key], seconds))

    def seconds(self, samples: Sequence[StoredPassword]) -> float:
        """Return the floor in seconds; measure each new sample, once per process.

        Raises:
            Unavailable: the queue of hashes is full.
        """
        if not samples:
            return 0.0
        # One thread measures; others wait, so that none of them answers faster.
        with self._lock:
            for sample in samples:
                key = sample.scheme, sample.cost
                if key not in self._measured:
                    self._measured[key] = self._measure(sample)
                    self._raised[key] = self.MARGIN * self._measured[key]
            return max(self._raised[each.scheme, each.cost] for each in samples)
