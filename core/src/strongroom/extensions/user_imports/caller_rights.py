"""Whether the caller of an import still has the right to it."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection, bindparam, select

from strongroom.clock import Clock
from strongroom.extensions.user_imports.models import UserImport
from strongroom.foundation.caller import ADMIN, SERVICE
from strongroom.foundation.database.statements import Statement
from strongroom.identity.access_keys.store import AccessKeyStore
from strongroom.identity.grants.store import GrantStore
from strongroom.identity.grants.terms import read_grant
from strongroom.identity.operations import IMPORT_USERS
from strongroom.identity.users.service import type_of_active

_TYPE: Final = Statement(select(type_of_active(bindparam("of_user"))))


@dataclass(slots=True, eq=False, repr=False)
class CallerRights:
    """Checks the callers of imports, within the transaction of a chunk."""

    _clock: Clock
    _keys: AccessKeyStore
    _grants: GrantStore

    def has_right(self, connection: Connection, job: UserImport) -> bool:
        """Return whether the caller could begin the import now.

        The caller must be an active administrator or service account. A key must not be revoked or
        expired, and must have the scope of an import. The command line always has the right.
        """
        if job.created_by is None:
            return True
        if _TYPE.scalar(connection, {"of_user": job.created_by}) not in (ADMIN, SERVICE):
            return False
        return job.key_id is None or self._is_good(connection, job.created_by, job.key_id)

    def _is_good(self, connection: Connection, user_id: str, key_id: str) -> bool:
        if (grant := self._grants.find_live(connection, key_id)) is not None:
            granted = read_grant(grant).terms
            is_of_user = grant.user_id == user_id and granted.tenant_id is None
            return is_of_user and IMPORT_USERS.scope in granted.scopes
        key = self._keys.find(connection, key_id)
        if key is None or key.user_id != user_id or key.tenant_id is not None:
            return False
        return key.expires_at > self._clock.now() and IMPORT_USERS.scope in key.scopes.split()
