"""One imported password of each cost, from which the time of failed logins is measured."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from sqlalchemy import Connection, String, bindparam, literal_column, select, tuple_

from strongroom.clock import Clock
from strongroom.foundation.database.rows import Row
from strongroom.foundation.database.statements import Statement
from strongroom.identity.users.models import OWN_SCHEME, passwords
from strongroom.identity.users.password_hashing import StoredPassword

STORED: Final = (passwords.c.hash, passwords.c.scheme, passwords.c.cost)
"""The columns of a :class:`StoredPassword`."""


def stored_password(row: Row) -> StoredPassword:
    """Return the password of a row of :data:`STORED`."""
    return StoredPassword(*row)


LIFETIME: Final = 60_000
"""Milliseconds for which the samples are not read again."""

_MAX_SAMPLES: Final = 32
_COST: Final = tuple_(passwords.c.scheme, passwords.c.cost)
# The first hash of the next cost, because a DISTINCT would read every imported hash. The literal is the
# condition of the partial index.
_NEXT: Final = Statement(
    select(*STORED)
    .where(
        passwords.c.scheme != literal_column(f"'{OWN_SCHEME}'"),
        tuple_(bindparam("scheme", type_=String), bindparam("cost", type_=String)) < _COST,
    )
    .order_by(passwords.c.scheme, passwords.c.cost)
    .limit(1),
    stored_password,
)


class PasswordSamples:
    """Reads the samples at most once per minute in each process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._read_again_at = 0
        self.current: Sequence[StoredPassword] = ()

    def refresh(self, connection: Connection) -> None:
        """Read the samples if they are old."""
        now = self._clock.now()
        if self._read_again_at <= now:
            self.current = list(islice(_samples(connection), _MAX_SAMPLES))
            self._read_again_at = now + LIFETIME


def _samples(connection: Connection) -> Iterator[StoredPassword]:
    sample = _NEXT.first(connection, {"scheme": "", "cost": ""})
    while sample is not None:
        yield sample
        sample = _NEXT.first(connection, {"scheme": sample.scheme, "cost": sample.cost})
