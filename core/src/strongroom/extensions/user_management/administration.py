"""What callers must fulfil who manage other users."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from sqlalchemy import Connection

from strongroom.foundation.caller import Identity
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.errors import Forbidden, OwnAccount
from strongroom.foundation.limits.service import Allowance, RateLimits
from strongroom.identity.accounts.key_rights import require_manageable
from strongroom.identity.accounts.reauthentication import Reauthentication
from strongroom.identity.users.models import User, UserType
from strongroom.identity.users.service import lock_logins

_PURPOSE: Final = "managed_users_per_caller"


def manages_users(identity: Identity | None) -> bool:
    """Return whether a caller may create and change other users."""
    return identity is not None and identity.is_admin


@dataclass(slots=True, eq=False, repr=False)
class ManagedUsersLimit:
    """Limits how many users a caller may create or change.

    Args:
        rates: the rates per caller.
    """

    _limits: RateLimits
    _rates: Sequence[Rate]

    def spend(self, caller_id: str) -> None:
        """Count a change.

        Raises:
            TooManyRequests: the caller has made too many changes.
        """
        self._limits.spend(Allowance(_PURPOSE, caller_id, self._rates))


@dataclass(slots=True, eq=False, repr=False)
class Administration:
    """Requires an administrator, within the rates of the caller."""

    _reauthentication: Reauthentication
    _limit: ManagedUsersLimit

    def require(self, identity: Identity) -> None:
        """Require an administrator with a recent proof of the second factor, and count the request.

        Raises:
            Forbidden: the caller is no administrator.
            StepUpRequired: the caller has a second factor, and has not proven it lately.
            TooManyRequests: the caller has made too many changes.
        """
        if not manages_users(identity):
            raise Forbidden
        # Creating a key needed this proof.
        if identity.key is None:
            self._reauthentication.require_factor(identity)
        self._limit.spend(identity.user_id)

    def confirm(self, connection: Connection, identity: Identity) -> None:
        """Require in the transaction of a change that the administrator's login has not ended meanwhile.

        Blocks a suspension until the transaction ends: call it first.

        Raises:
            TokenInvalid: the login has ended.
        """
        if identity.key is None:
            lock_logins(connection, identity.user_id, shared=True)
        self._reauthentication.require_live(connection, identity)


def require_takeover(identity: Identity, user: User) -> None:
    """Require that a caller may do what takes an account over, such as set its contacts.

    Administrators would take over an equal account.

    Raises:
        OwnAccount: it is the caller's own account, whose changes need its own proofs.
        Forbidden: it is the account of another administrator, or one of a machine.
    """
    require_manageable(identity, user)
    if user.id == identity.user_id:
        raise OwnAccount("Administrators change their own account as users do.")
    if user.type != UserType.USER:
        raise Forbidden("Administrators may not take over the account of an equal or a machine.")
