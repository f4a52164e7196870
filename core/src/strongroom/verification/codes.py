"""Verification codes: hashed, bound to a recipient and a purpose, good for one use."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from sqlalchemy import ColumnElement, Connection, insert, select, update

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.pruning import prune, prune_some
from strongroom.errors import CodeInvalid
from strongroom.ids import new_id
from strongroom.limits.service import Counters
from strongroom.plugin_api.login import Credential, VerificationCode
from strongroom.secret_keys import SecretKeys
from strongroom.verification.models import verification_codes

LIFETIME: Final = 300_000
"""Milliseconds for which a code is good."""

ATTEMPTS: Final = 5
"""Wrong guesses for one recipient and purpose; sending another code refills nothing."""

_DIGITS: Final = 6
_ATTEMPTS_PURPOSE: Final = "code-attempts"
_FORGOTTEN_AT_ONCE: Final = 2


class Purpose(StrEnum):
    """What a code is good for."""

    LOGIN = "login"
    REGISTER = "register"
    BIND = "bind"
    UNBIND = "unbind"
    RESET_PASSWORD = "reset-password"  # noqa: S105  the name of a purpose


@dataclass(frozen=True, slots=True)
class NewCode:
    """A code that was just made. ``expires_at`` is in milliseconds since the Unix epoch."""

    id: str
    code: str = field(repr=False)
    expires_at: int


class CodeService:
    """Makes and spends codes.

    Args:
        database: where codes are kept.
        clock: the time.
        keys: what hashes them.
        counters: what counts wrong guesses.
    """

    def __init__(self, database: Database, clock: Clock, keys: SecretKeys, counters: Counters) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys
        self._counters = counters

    def create(self, connection: Connection, recipient: Credential, purpose: Purpose) -> NewCode:
        """Make a code; only whoever reads the recipient's messages gets to know it."""
        now = self._clock.now()
        code = f"{secrets.randbelow(10**_DIGITS):0{_DIGITS}}"
        new = NewCode(new_id(), code, now + LIFETIME)
        row = {
            "id": new.id,
            "recipient_kind": recipient.kind,
            "recipient": recipient.value,
            "purpose": purpose.value,
            "code_hash": self._hash(new.id, code),
            "created_at": now,
            "expires_at": new.expires_at,
        }
        connection.execute(insert(verification_codes).values(row))
        # More than come anew, so that they do not heap up.
        prune_some(connection, verification_codes.c.id, self._expired(), _FORGOTTEN_AT_ONCE)
        return new

    def prune(self) -> int:
        """Delete the codes that have expired, and return how many."""
        return prune(self._database, verification_codes.c.id, self._expired())

    def recipients(self, codes: Sequence[VerificationCode]) -> dict[str, Credential]:
        """Return to whom codes were sent, by the ids they were sent under."""
        columns = verification_codes.c
        query = select(columns.id, columns.recipient_kind, columns.recipient).where(
            columns.id.in_([code.id for code in codes])
        )
        with self._database.read() as connection:
            rows = connection.execute(query).all()
        return {row.id: Credential(row.recipient_kind, row.recipient) for row in rows}

    def require(self, code: VerificationCode | None, recipient: Credential, purpose: Purpose) -> None:
        """Use up a code.

        Raises:
            CodeInvalid: there is none, or it is wrong.
        """
        if code is None or not self.spend(code, recipient, purpose):
            raise CodeInvalid

    def void(self, connection: Connection, recipient: Credential) -> None:
        """Make every open code that was sent to a recipient worthless."""
        columns = verification_codes.c
        connection.execute(
            update(verification_codes)
            .where(
                columns.recipient_kind == recipient.kind,
                columns.recipient == recipient.value,
                columns.consumed_at.is_(None),
            )
            .values(consumed_at=self._clock.now())
        )

    def spend(self, code: VerificationCode, recipient: Credential, purpose: Purpose) -> bool:
        """Use up a code; return whether it was right.

        A guess is counted before it is looked at, so that guesses at once are not more than guesses
        one after the other.
        """
        subject = f"{recipient.kind}:{recipient.value}:{purpose}"
        with self._database.write() as connection:
            guesses = self._counters.add(connection, _ATTEMPTS_PURPOSE, subject, lifetime=LIFETIME)
            if guesses > ATTEMPTS:
                connection.rollback()
                return False
            is_spent = self._consume(connection, code, recipient, purpose)
            if is_spent:
                self._counters.reset(connection, _ATTEMPTS_PURPOSE, subject)
            elif self._is_known(connection, code):
                # Whoever sends a right code twice is not guessing.
                self._counters.take_back(connection, _ATTEMPTS_PURPOSE, subject)
        return is_spent

    def _consume(
        self, connection: Connection, code: VerificationCode, recipient: Credential, purpose: Purpose
    ) -> bool:
        now, columns = self._clock.now(), verification_codes.c
        consumed = connection.execute(
            update(verification_codes)
            .where(
                columns.id == code.id,
                columns.code_hash == self._hash(code.id, code.code),
                columns.recipient_kind == recipient.kind,
                columns.recipient == recipient.value,
                columns.purpose == purpose.value,
                columns.consumed_at.is_(None),
                columns.expires_at > now,
            )
            .values(consumed_at=now)
        )
        return consumed.rowcount == 1

    def _is_known(self, connection: Connection, code: VerificationCode) -> bool:
        columns = verification_codes.c
        query = select(columns.id).where(
            columns.id == code.id, columns.code_hash == self._hash(code.id, code.code)
        )
        return connection.execute(query).first() is not None

    def _expired(self) -> ColumnElement[bool]:
        return verification_codes.c.expires_at <= self._clock.now()

    def _hash(self, code_id: str, code: str) -> str:
        return self._keys.hash("verification-code", f"{code_id}:{code.strip()}")
