"""Idempotency keys: a repeated request creates nothing again, and gets the first answer: ADR 0113.

The row of a key is claimed before the request is processed. Each transaction of the request records in
the row that it had an effect, and fails if the claim was lost. So a request whose node was killed is
either without effect, and processed again, or refused.
"""

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

from sqlalchemy import (
    Boolean,
    Column,
    Connection,
    Index,
    String,
    Table,
    Text,
    bindparam,
    delete,
    func,
    select,
    update,
)

from strongroom.clock import DAY, Clock
from strongroom.foundation.database import Database
from strongroom.foundation.database.effects import before_commits
from strongroom.foundation.database.metadata import Id, Timestamp, metadata
from strongroom.foundation.database.pruning import AmortizedPruning, prune, prune_some
from strongroom.foundation.database.statements import Statement, for_each_dialect
from strongroom.foundation.errors import (
    IdempotencyMismatch,
    IdempotencyRunning,
    IdempotencyUnknown,
    StrongroomError,
    TooManyRequests,
)
from strongroom.foundation.ids import new_id
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.web import ApiError

LIFETIME: Final = DAY
"""How long an answer is stored, in milliseconds."""

LEASE: Final = 60_000
"""Milliseconds after which a request without an effect counts as killed."""

MAX_KEYS: Final = 2_000
"""Keys of a user that are stored at a time."""

MAX_ANSWER: Final = 64 * 1024
"""The maximum size of a stored body in bytes."""

_SERVER_ERROR: Final = 500

idempotency_keys: Final = Table(
    "idempotency_keys",
    metadata,
    Column("hash", String(64), primary_key=True),
    Column("user_id", Id, nullable=False),
    Column("attempt", Id, nullable=False),
    Column("lease_until", Timestamp, nullable=False),
    Column("has_effect", Boolean, nullable=False),
    Column("sealed", Text, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Index(None, "user_id"),
    Index(None, "expires_at"),
)
"""``hash`` is of the caller, the operation and the key; ``attempt`` is the request that has the claim.

``sealed`` has the fingerprint of the request and the answer, which may contain secrets such as a new
access key.
"""

_ROWS: Final = idempotency_keys.c
_ROW: Final = _ROWS.hash == bindparam("of_hash")
_IS_CLAIMED: Final = _ROW & (_ROWS.attempt == bindparam("of_attempt"))
_ADD: Final = Statement(
    for_each_dialect(idempotency_keys, lambda insert: insert.on_conflict_do_nothing())
)
_GET: Final = Statement(select(idempotency_keys).where(_ROW))
_COUNT: Final = Statement(
    select(func.count()).select_from(idempotency_keys).where(_ROWS.user_id == bindparam("of_user"))
)
_TAKE_OVER: Final = Statement(
    update(idempotency_keys)
    .where(_IS_CLAIMED, ~_ROWS.has_effect | (_ROWS.expires_at <= bindparam("now")))
    .values(
        attempt=bindparam("attempt"),
        lease_until=bindparam("lease_until"),
        has_effect=bindparam("has_effect"),
        sealed=bindparam("sealed"),
        expires_at=bindparam("expires_at"),
    )
)
_NOTE_EFFECT: Final = Statement(update(idempotency_keys).where(_IS_CLAIMED).values(has_effect=True))
_FINISH: Final = Statement(
    update(idempotency_keys)
    .where(_IS_CLAIMED)
    .values(has_effect=True, lease_until=0, sealed=bindparam("sealed"))
)
_RELEASE: Final = Statement(delete(idempotency_keys).where(_IS_CLAIMED))
_RELEASE_UNUSED: Final = Statement(delete(idempotency_keys).where(_IS_CLAIMED, ~_ROWS.has_effect))
_END_LEASE: Final = Statement(update(idempotency_keys).where(_IS_CLAIMED).values(lease_until=0))
_REMOVE: Final = Statement(delete(idempotency_keys).where(_ROWS.user_id == bindparam("of_user")))


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """A request with an idempotency key.

    Args:
        user_id: the caller; the answer is deleted together with the account.
        scope: the caller and the operation; each scope has its own keys.
        key: the key of the client.
        fingerprint: describes the whole request; another one with the same key is refused.
    """

    user_id: str
    scope: tuple[str, ...]
    key: str = field(repr=False)
    fingerprint: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """A response. ``headers`` are its own, without those that every response has."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class _Claim:
    hash: str
    attempt: str
    fingerprint: str = field(repr=False)

    @property
    def parameters(self) -> dict[str, str]:
        return {"of_hash": self.hash, "of_attempt": self.attempt}


class IdempotencyKeys:
    """The keys of all callers, which all nodes share."""

    def __init__(self, database: Database, clock: Clock, keys: SecretKeys) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys
        self._pruning = AmortizedPruning(_ROWS.hash, _ROWS.expires_at)

    def run(
        self, request: KeyedRequest, process: Callable[[], StoredAnswer | None]
    ) -> StoredAnswer | None:
        """Process a request once, and return the stored answer to a repeated one.

        Args:
            process: processes the request. It returns the answer, or ``None`` if it is too large.

        Returns:
            the stored answer; ``None`` if ``process`` was called now.

        Raises:
            IdempotencyMismatch: the key was used for another request.
            IdempotencyRunning: the first request is still being processed.
            IdempotencyUnknown: the first request may have had an effect, but has no stored answer.
            TooManyRequests: the caller has too many keys.
        """
        claim = self._claim(request)
        if isinstance(claim, StoredAnswer):
            return claim
        try:
            with before_commits(lambda connection: _note_effect(connection, claim)):
                answer = process()
        except BaseException as error:
            self._release(claim, error)
            raise
        self._finish(claim, answer)
        return None

    def forget_user(self, connection: Connection, ended: Deactivation) -> None:
        """Delete the answers of a user who can no longer act."""
        if ended.is_of_account:
            _REMOVE.execute(connection, {"of_user": ended.user_id})

    def prune(self) -> int:
        """Delete the keys whose time is over, and return their number."""
        return prune(self._database, _ROWS.hash, _ROWS.expires_at <= self._clock.now())

    def _claim(self, request: KeyedRequest) -> _Claim | StoredAnswer:
        hash_ = self._keys.hash("idempotency", json.dumps([*request.scope, request.key]))
        claim = _Claim(hash_, new_id(), request.fingerprint)
        now = self._clock.now()
        row = {
            "hash": hash_,
            "user_id": request.user_id,
            "attempt": claim.attempt,
            "lease_until": now + LEASE,
            "has_effect": False,
            "sealed": self._seal(claim, None),
            "expires_at": now + LIFETIME,
        }
        # Durable with the first transaction that has an effect.
        with self._database.write(durable=False) as connection:
            if _ADD.execute(connection, row):
                self._require_few(connection, request.user_id, now)
                return claim
            known = _GET.first(connection, {"of_hash": hash_})
            if known is None:
                # Removed by a concurrent request.
                raise IdempotencyRunning(retry_after=1)
            answer = self._known(known, claim, now)
            if answer is not None:
                return answer
            former = {"of_hash": hash_, "of_attempt": known.attempt, "now": now}
            taken = {name: value for name, value in row.items() if name not in ("hash", "user_id")}
            if not _TAKE_OVER.execute(connection, {**former, **taken}):
                raise IdempotencyRunning(retry_after=1)
        return claim

    def _require_few(self, connection: Connection, user_id: str, now: int) -> None:
        self._pruning.inserted(connection, now)
        if self._count(connection, user_id) <= MAX_KEYS:
            return
        prune_some(
            connection, _ROWS.hash, (_ROWS.user_id == user_id) & (_ROWS.expires_at <= now), MAX_KEYS
        )
        if self._count(connection, user_id) > MAX_KEYS:
            raise TooManyRequests(retry_after=3600)

    def _count(self, connection: Connection, user_id: str) -> int:
        return int(_COUNT.scalar(connection, {"of_user": user_id}))

    def _known(self, row: Any, claim: _Claim, now: int) -> StoredAnswer | None:
        """Return the answer of a key; ``None`` if its request had no effect, or its time is over."""
        if row.expires_at <= now:
            return None
        fingerprint, answer = self._open(row)
        if fingerprint != claim.fingerprint:
            raise IdempotencyMismatch
        if answer is not None:
            status, headers, body = answer
            return StoredAnswer(status, tuple((name, value) for name, value in headers), body)
        if row.lease_until > now:
            raise IdempotencyRunning(retry_after=1)
        if row.has_effect:
            raise IdempotencyUnknown
        return None

    def _finish(self, claim: _Claim, answer: StoredAnswer | None) -> None:
        values = {**claim.parameters, "sealed": self._seal(claim, answer)}
        # The resource exists: the answer must arrive even if it cannot be stored.
        with suppress(StrongroomError), self._database.write() as connection:
            _FINISH.execute(connection, values)

    def _release(self, claim: _Claim, error: BaseException) -> None:
        is_refusal = isinstance(error, ApiError) and error.status < _SERVER_ERROR
        release = _RELEASE if is_refusal else _RELEASE_UNUSED
        with suppress(StrongroomError), self._database.write(durable=False) as connection:
            if not release.execute(connection, claim.parameters):
                _END_LEASE.execute(connection, claim.parameters)

    def _seal(self, claim: _Claim, answer: StoredAnswer | None) -> str:
        stored = answer and (answer.status, answer.headers, answer.body)
        return self._keys.seal(_purpose(claim.hash), json.dumps([claim.fingerprint, stored]))

    def _open(self, row: Any) -> tuple[str, Any]:
        try:
            fingerprint, answer = json.loads(self._keys.unseal(_purpose(row.hash), row.sealed))
        except ValueError as error:
            # Of a former secret of the server, or copied from another row.
            raise IdempotencyUnknown from error
        return fingerprint, answer


def _purpose(hash_: str) -> str:
    return f"idempotency {hash_}"


def _note_effect(connection: Connection, claim: _Claim) -> None:
    """Record that the request has an effect, in the transaction of the effect.

    Raises:
        IdempotencyRunning: another request has the claim, because this one took longer than the lease.
    """
    if not _NOTE_EFFECT.execute(connection, claim.parameters):
        raise IdempotencyRunning(retry_after=1)
