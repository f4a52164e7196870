"""Checks the current password of a logged-in user, with a limit on failures per hour."""

from typing import Final

from strongroom.credentials.service import CredentialService
from strongroom.database import Database
from strongroom.errors import TooManyRequests, Unavailable, WrongPassword
from strongroom.limits.service import Counters

ATTEMPTS: Final = 10
"""Wrong passwords per hour. Without a limit, a stolen token could be used to guess the password."""

_PURPOSE: Final = "old-password"
_HOUR: Final = 60 * 60 * 1000


class CurrentPassword:
    """Verifies the current password of a user.

    Args:
        database: stores the counts.
        credentials: checks passwords.
        counters: counts attempts.
    """

    def __init__(self, database: Database, credentials: CredentialService, counters: Counters) -> None:
        self._database = database
        self._credentials = credentials
        self._counters = counters

    def verify(self, user_id: str, password: str) -> str:
        """Return the stored hash if the password is the user's.

        Slow: call it outside of a transaction.

        Raises:
            WrongPassword: the password is wrong.
            TooManyRequests: too many wrong passwords within the last hour.
            Unavailable: too many hashes are waiting.
        """
        # Count before hashing, so that parallel attempts cannot exceed the limit.
        with self._database.write() as connection:
            if self._counters.add(connection, _PURPOSE, user_id, lifetime=_HOUR) > ATTEMPTS:
                # Do not count refused attempts, so that they do not extend the lockout.
                connection.rollback()
                raise TooManyRequests(retry_after=_HOUR // 1000)
        stored = self._hash_of(user_id, password)
        if stored is None:
            raise WrongPassword
        with self._database.write() as connection:
            self._counters.reset(connection, _PURPOSE, user_id)
        return stored

    def _hash_of(self, user_id: str, password: str) -> str | None:
        try:
            return self._credentials.hash_of(user_id, password)
        except Unavailable:
            # The password was not evaluated, so the attempt does not count.
            with self._database.write() as connection:
                self._counters.take_back(connection, _PURPOSE, user_id)
            raise
