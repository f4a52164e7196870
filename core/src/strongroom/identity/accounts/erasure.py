"""Erases the personal data of deleted users after a grace period."""

from dataclasses import KW_ONLY, dataclass
from typing import Final

from strongroom.activity.audit.service import AuditEvent, AuditService
from strongroom.clock import Clock
from strongroom.foundation.caller import Origin
from strongroom.foundation.database import Database
from strongroom.identity.sessions.service import AuthorizationService
from strongroom.identity.users.consents import Consents
from strongroom.identity.users.credentials import CredentialService
from strongroom.identity.users.service import UserService

_BATCH: Final = 500


@dataclass(slots=True, eq=False, repr=False)
class AccountErasure:
    """Erasure of the personal data that a deletion leaves.

    Args:
        erase_after: milliseconds between the deletion and the erasure.
    """

    _database: Database
    _clock: Clock
    _users: UserService
    _credentials: CredentialService
    _authorizations: AuthorizationService
    _consents: Consents
    _audit: AuditService
    _: KW_ONLY
    erase_after: int

    def erase(self, origin: Origin) -> int:
        """Erase the personal data of users whose retention period has ended; return the count."""
        erased = 0
        while count := self._erase_some(origin):
            erased += count
        return erased

    def _erase_some(self, origin: Origin) -> int:
        before = self._clock.now() - self.erase_after
        with self._database.write() as connection:
            user_ids = self._users.erase(connection, before, limit=_BATCH)
            for user_id in user_ids:
                # Authorizations contain client addresses and user agents.
                self._authorizations.forget(connection, user_id)
                self._credentials.release_all(connection, user_id)
            self._consents.erase(connection, user_ids)
            if user_ids:
                details = {"count": str(len(user_ids))}
                self._audit.record(connection, AuditEvent("user.erase", origin=origin, details=details))
        return len(user_ids)
