"""Verification codes: stored as hashes, bound to a recipient and a purpose, valid for one use."""

import hmac
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Index,
    String,
    Table,
    and_,
    bindparam,
    insert,
    or_,
    select,
    tuple_,
    update,
)

from strongroom.clock import DAY, Clock
from strongroom.foundation.addresses import get_network
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.database import Database
from strongroom.foundation.database.metadata import Id, Name, Timestamp, metadata
from strongroom.foundation.database.pruning import prune, prune_some
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import CodeInvalid, TooManyRequests
from strongroom.foundation.ids import new_id
from strongroom.foundation.limits.service import Allowance, Count, Counters, RateLimits
from strongroom.foundation.secret_keys import SecretKeys
from strongroom.identity.users.models import credentials
from strongroom.plugin_api.deactivation import Deactivation
from strongroom.plugin_api.login import Credential, VerificationCode

verification_codes: Final = Table(
    "verification_codes",
    metadata,
    Column("id", Id, primary_key=True),
    Column("recipient_kind", String(32), nullable=False),
    Column("recipient", Name, nullable=False),
    Column("purpose", String(32), nullable=False),
    Column("code_hash", String(64), nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False),
    Column("consumed_at", Timestamp),
    Column("device_hash", String(64)),
    Index("ix_verification_codes_recipient", "recipient_kind", "recipient", "purpose", "created_at"),
    Index(None, "expires_at"),
)


LIFETIME: Final = 300_000
"""Milliseconds for which a code is valid."""

ATTEMPTS: Final = 5
"""Wrong guesses per code. A new code for the same device shares the count, so it does not reset it."""

_DIGITS: Final = 6
_LINK_SECRET_LENGTH: Final = 32  # hexadecimal digits: 128 bits
_BY_CODE: Final = "code-attempts"
_BY_RECIPIENT: Final = "code-recipient-attempts"
_BY_ADDRESS: Final = "code-unknown"
_FORGOTTEN_AT_ONCE: Final = 2

_CODES: Final = verification_codes.c
_SENT_TO: Final = and_(
    _CODES.recipient_kind == bindparam("recipient_kind"), _CODES.recipient == bindparam("recipient")
)
_UNUSED: Final = _CODES.consumed_at.is_(None)
_MATCHES: Final = and_(
    _CODES.id == bindparam("code_id"),
    # The secret of the link is derived from the id, so no column has it. It counts on one device only.
    or_(_CODES.code_hash == bindparam("code_hash"), _CODES.device_hash == bindparam("link_device")),
)
_ADD: Final = Statement(insert(verification_codes))
_RECIPIENTS: Final = Statement(
    select(_CODES.id, _CODES.recipient_kind, _CODES.recipient).where(
        _CODES.id.in_(bindparam("code_ids", expanding=True))
    )
)
_OPEN: Final = Statement(
    select(_CODES.device_hash).where(
        _CODES.id == bindparam("code_id"),
        _SENT_TO,
        _CODES.purpose == bindparam("purpose"),
        _UNUSED,
        _CODES.expires_at > bindparam("now"),
    )
)
_MATCH: Final = Statement(select(_CODES.id).where(_MATCHES))
# One UPDATE checks and marks the code, so that two concurrent uses cannot both succeed.
_CONSUME: Final = Statement(
    update(verification_codes)
    .where(_MATCHES, _UNUSED, _CODES.expires_at > bindparam("now"))
    .values(consumed_at=bindparam("now"))
)
_RESTORE: Final = Statement(update(verification_codes).where(_MATCHES).values(consumed_at=None))
_VOID_OF_USER: Final = Statement(
    update(verification_codes)
    .where(
        tuple_(_CODES.recipient_kind, _CODES.recipient).in_(
            select(credentials.c.kind, credentials.c.value).where(
                credentials.c.user_id == bindparam("of_user")
            )
        ),
        _UNUSED,
    )
    .values(consumed_at=bindparam("now"))
)
# One challenge of a login per device and recipient; other purposes may need two codes at a time, such as
# unbinding both contacts. Other devices have their own, so that a client cannot
# make the codes of another one invalid.
_VOID_FORMER: Final = Statement(
    update(verification_codes)
    .where(
        _CODES.purpose == bindparam("of_purpose"),
        _SENT_TO,
        _CODES.device_hash == bindparam("of_device"),
        _UNUSED,
    )
    .values(consumed_at=bindparam("now"))
)
_VOID: Final = Statement(
    update(verification_codes).where(_SENT_TO, _UNUSED).values(consumed_at=bindparam("now"))
)


class Purpose(StrEnum):
    """The purpose of a code. It is valid for no other."""

    LOGIN = "login"
    REGISTER = "register"
    BIND = "bind"
    UNBIND = "unbind"
    RESET_PASSWORD = "reset-password"  # noqa: S105  the name of a purpose


@dataclass(frozen=True, slots=True)
class NewCode:
    """A new code. ``expires_at`` is in milliseconds since the Unix epoch.

    Args:
        link_secret: the secret of a link in the same message; using one of both makes both invalid.
    """

    id: str
    code: str = field(repr=False)
    link_secret: str = field(repr=False)
    expires_at: int


_Presented = dict[str, str]
ProofListener = Callable[[Connection, Credential], None]


@dataclass(frozen=True, slots=True)
class GuessLimits:
    """Limits of wrong codes, in addition to :data:`ATTEMPTS` per code.

    Args:
        per_recipient: wrong codes per recipient in a fixed window of a day, over all of its codes.
        unknown_per_address: rates of codes with unknown ids, per client address.
    """

    per_recipient: int
    unknown_per_address: Sequence[Rate]


@dataclass(slots=True, eq=False, repr=False)
class CodeService:
    """Creates and checks codes.

    A wrong code counts against the code with its id. The id is a secret of the device that requested
    the code, so an attacker cannot consume the attempts of another client. An id that was never issued
    counts only against the address of the client.

    Args:
        rates: counts ids that were never issued.
        on_proof: called, in the transaction that consumes a right code, with its recipient. Codes for
            ``register`` prove nothing about the user who has the recipient already.
    """

    _database: Database
    _clock: Clock
    _keys: SecretKeys
    _counters: Counters
    _rates: RateLimits
    _limits: GuessLimits
    _on_proof: ProofListener

    def create(
        self, connection: Connection, recipient: Credential, purpose: Purpose, device: str
    ) -> NewCode:
        """Create a code; one for a login replaces the former one of the device. The caller sends it.

        Args:
            recipient: the address or number that it is sent to.
            purpose: the purpose that it is valid for.
            device: the device that requested it; stored as a keyed hash.
        """
        now = self._clock.now()
        code = f"{secrets.randbelow(10**_DIGITS):0{_DIGITS}}"
        code_id, device_hash = new_id(), self._device_hash(device)
        new = NewCode(code_id, code, self._link_secret(code_id), now + LIFETIME)
        sent_to = {"recipient_kind": recipient.kind, "recipient": recipient.value}
        of = {"of_purpose": purpose.value, "of_device": device_hash}
        if purpose is Purpose.LOGIN:
            _VOID_FORMER.execute(connection, {**sent_to, **of, "now": now})
        row = {
            "id": new.id,
            **sent_to,
            "purpose": purpose.value,
            "code_hash": self._hash(new.id, code),
            "device_hash": device_hash,
            "created_at": now,
            "expires_at": new.expires_at,
            "consumed_at": None,
        }
        _ADD.execute(connection, row)
        # Deletes more rows than were added, so that they cannot accumulate.
        prune_some(connection, verification_codes.c.id, self._expired(), _FORGOTTEN_AT_ONCE)
        return new

    def prune(self) -> int:
        """Delete expired codes; return the count."""
        return prune(self._database, verification_codes.c.id, self._expired())

    def recipients(self, codes: Sequence[VerificationCode]) -> dict[str, Credential]:
        """Return the recipients of codes, by the ids of the codes. Unknown ids are left out."""
        with self._database.read() as connection:
            rows = _RECIPIENTS.all(connection, {"code_ids": [code.id for code in codes]})
        return {code_id: Credential(kind, value) for code_id, kind, value in rows}

    def require(
        self,
        code: VerificationCode | None,
        recipient: Credential,
        purpose: Purpose,
        address: str | None = None,
    ) -> None:
        """Consume a code, and require that it is right. For ``address`` see :meth:`consume`.

        Raises:
            CodeInvalid: the code is missing or wrong.
            TooManyRequests: too many wrong codes were tried.
        """
        if code is None or not self.consume(code, recipient, purpose, address):
            raise CodeInvalid

    def restore(self, codes: Sequence[VerificationCode]) -> None:
        """Make used codes valid again, after the operation that they were used for has failed."""
        with self._database.write() as connection:
            for code in codes:
                _RESTORE.execute(connection, self._presented(code))

    def void(self, connection: Connection, recipient: Credential) -> None:
        """Invalidate all open codes that were sent to a recipient."""
        sent_to = {"recipient_kind": recipient.kind, "recipient": recipient.value}
        _VOID.execute(connection, {**sent_to, "now": self._clock.now()})

    def deactivate(self, connection: Connection, ended: Deactivation) -> None:
        """Invalidate all open codes that were sent to contacts of a user."""
        if ended.is_of_account:
            _VOID_OF_USER.execute(connection, {"of_user": ended.user_id, "now": self._clock.now()})

    def consume(
        self,
        code: VerificationCode,
        recipient: Credential,
        purpose: Purpose,
        address: str | None = None,
        *,
        device: str | None = None,
    ) -> bool:
        """Consume a code, or the secret of the link in its message; return whether it was right.

        A guess is counted before it is evaluated, so parallel guesses cannot exceed the limit.

        Args:
            recipient: the required recipient of the code.
            purpose: the required purpose of the code.
            address: the client's address, which is charged for unknown ids; ``None``: no charge.
            device: the client's device; the secret of a link counts if it is the one that requested the
                code. ``None``: only the code counts.

        Raises:
            TooManyRequests: too many wrong codes were tried.
        """
        # Read-only, so that a flood of invented ids does not hold the writer lock.
        with self._database.read() as connection:
            attempts = self._attempts_counter(connection, code.id, recipient, purpose)
        if attempts is None:
            self._count_unknown(code, address)
            return False
        presented = self._presented(code, device)
        with self._database.write() as connection:
            is_right = self._evaluate(connection, presented, recipient, f"{purpose}:{attempts}")
            if is_right and purpose is not Purpose.REGISTER:
                self._on_proof(connection, recipient)
            return is_right

    def _count_unknown(self, code: VerificationCode, address: str | None) -> None:
        with self._database.read() as connection:
            # A client that repeats a right code after its use is not guessing.
            is_guess = not self._is_right(connection, self._presented(code))
        if is_guess and address is not None:
            subject = get_network(address)
            self._rates.spend(Allowance(_BY_ADDRESS, subject, self._limits.unknown_per_address))

    def _attempts_counter(
        self, connection: Connection, code_id: str, recipient: Credential, purpose: Purpose
    ) -> str | None:
        """Return the counter name for attempts at an open code, or ``None`` if there is no such code."""
        parameters = {
            "code_id": code_id,
            "recipient_kind": recipient.kind,
            "recipient": recipient.value,
            "purpose": purpose.value,
            "now": self._clock.now(),
        }
        row = _OPEN.first(connection, parameters)
        # Counted per device, so that requesting new codes does not grant new guesses.
        return None if row is None else row.device_hash or code_id

    def _evaluate(
        self, connection: Connection, presented: _Presented, recipient: Credential, attempts: str
    ) -> bool:
        # Both counters are incremented before the check and decremented if the code was right.
        name = f"{recipient.kind}:{recipient.value}"
        subject = f"{name}:{attempts}"
        by_code = self._counters.add_within(connection, _BY_CODE, subject, window=LIFETIME)
        by_recipient = self._counters.add_within(connection, _BY_RECIPIENT, name, window=DAY)
        self._refuse_exceeded(connection, by_code, ATTEMPTS)
        self._refuse_exceeded(connection, by_recipient, self._limits.per_recipient)
        is_right = self._consume(connection, presented)
        if is_right:
            self._counters.reset(connection, _BY_CODE, subject)
        elif self._is_right(connection, presented):
            # A parallel request has used the code, so this is not a wrong guess.
            self._counters.take_back(connection, _BY_CODE, subject)
        else:
            return False
        self._counters.take_back(connection, _BY_RECIPIENT, name)
        return is_right

    def _refuse_exceeded(self, connection: Connection, count: Count, limit: int) -> None:
        if count.events > limit:
            # Undo the counts, so that refused guesses at one code do not consume the recipient's.
            connection.rollback()
            wait = count.expires_at - self._clock.now()
            raise TooManyRequests(retry_after=max(1, math.ceil(wait / 1000)))

    def _consume(self, connection: Connection, presented: _Presented) -> bool:
        return _CONSUME.execute(connection, {**presented, "now": self._clock.now()}) == 1

    def _is_right(self, connection: Connection, presented: _Presented) -> bool:
        return _MATCH.scalar(connection, presented) is not None

    def _presented(self, code: VerificationCode, device: str | None = None) -> _Presented:
        """Return the parameters that match the code, or the secret of its link on this device."""
        secret = self._link_secret(code.id).encode()
        is_link = hmac.compare_digest(code.code.encode("utf-8", "replace"), secret)
        # No device has the empty hash.
        link_device = self._device_hash(device) if is_link and device is not None else ""
        code_hash = self._hash(code.id, code.code)
        return {"code_id": code.id, "code_hash": code_hash, "link_device": link_device}

    def _link_secret(self, code_id: str) -> str:
        return self._keys.hash("verification-link", code_id)[:_LINK_SECRET_LENGTH]

    def _device_hash(self, device: str) -> str:
        return self._keys.hash("code-device", device)

    def _expired(self) -> ColumnElement[bool]:
        return verification_codes.c.expires_at <= self._clock.now()

    def _hash(self, code_id: str, code: str) -> str:
        # The id is included, so that equal codes have different hashes.
        return self._keys.hash("verification-code", f"{code_id}:{code.strip()}")
