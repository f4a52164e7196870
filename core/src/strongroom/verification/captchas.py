"""Issues and spends captchas: each is good for one answer, on any node, for a short while."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import ColumnElement, Row, delete, insert

from strongroom.clock import Clock
from strongroom.database import Database
from strongroom.database.pruning import prune, prune_some
from strongroom.errors import CaptchaInvalid, Unavailable
from strongroom.ids import new_id
from strongroom.plugin_api.captcha import CaptchaProvider, CaptchaUnavailable
from strongroom.secret_keys import SecretKeys
from strongroom.verification.models import captchas

logger = logging.getLogger(__name__)

_SEAL = "captcha"
_FORGOTTEN_AT_ONCE = 2


@dataclass(frozen=True, slots=True)
class CaptchaAnswer:
    """What a client says the solution is."""

    id: str
    answer: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class IssuedCaptcha:
    """A puzzle as a client gets it. ``expires_at`` is in milliseconds since the Unix epoch."""

    id: str
    kind: str
    payload: Mapping[str, object]
    expires_at: int


class CaptchaService:
    """Captchas of one provider.

    Args:
        database: where open puzzles are kept.
        clock: the time.
        keys: what seals the provider's state.
        provider: makes puzzles and judges answers.
        lifetime: milliseconds.
    """

    def __init__(
        self,
        database: Database,
        clock: Clock,
        keys: SecretKeys,
        provider: CaptchaProvider[object],
        lifetime: int,
    ) -> None:
        self._database = database
        self._clock = clock
        self._keys = keys
        self._provider = provider
        self._lifetime = lifetime

    def issue(self) -> IssuedCaptcha:
        """Make a puzzle."""
        challenge = self._provider.issue()
        issued = IssuedCaptcha(
            new_id(), self._provider.kind, challenge.payload, self._clock.now() + self._lifetime
        )
        row = {
            "id": issued.id,
            "provider": self._provider.name,
            "sealed_state": self._keys.seal(_SEAL, challenge.state),
            "expires_at": issued.expires_at,
        }
        with self._database.write() as connection:
            connection.execute(insert(captchas).values(row))
            # More than come anew, so that what nobody answers does not heap up.
            prune_some(connection, captchas.c.id, self._expired(), _FORGOTTEN_AT_ONCE)
        return issued

    def prune(self) -> int:
        """Delete the puzzles that nobody has answered in time, and return how many."""
        return prune(self._database, captchas.c.id, self._expired())

    def spend(self, answer: CaptchaAnswer, address: str | None) -> None:
        """Use up a puzzle.

        Args:
            answer: what the client sent.
            address: the client's network address.

        Raises:
            CaptchaInvalid: the answer is wrong, or the puzzle is unknown, expired or used up.
            Unavailable: the provider cannot judge now; the puzzle is not used up.
        """
        with self._database.write() as connection:
            row = connection.execute(
                delete(captchas).where(captchas.c.id == answer.id).returning(*captchas.c)
            ).first()
        if row is None or row.expires_at <= self._clock.now() or row.provider != self._provider.name:
            raise CaptchaInvalid
        given = answer.answer.strip()
        if not given or not self._judge(row, given, address):
            raise CaptchaInvalid

    def _judge(self, row: Row[Any], given: str, address: str | None) -> bool:
        state = self._keys.unseal(_SEAL, row.sealed_state)
        try:
            return self._provider.verify_from(state, given, address)
        except CaptchaUnavailable as error:
            logger.warning("The captcha provider %s cannot judge: %s", self._provider.name, error)
            # Deleted before it was judged, so that one answer counts; this one was not judged.
            with self._database.write() as connection:
                connection.execute(insert(captchas).values(row._asdict()))
            raise Unavailable(retry_after=error.retry_after) from error

    def _expired(self) -> ColumnElement[bool]:
        return captchas.c.expires_at <= self._clock.now()
