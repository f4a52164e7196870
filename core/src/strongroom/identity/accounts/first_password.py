"""Sets the password of a user who has none, such as one who has registered by another method."""

from dataclasses import dataclass

from strongroom.foundation.caller import Identity, Origin
from strongroom.identity.accounts.change_password import PasswordService
from strongroom.identity.accounts.reauthentication import Proof, Reauthentication
from strongroom.identity.users.password_policy import Strength


@dataclass(slots=True, eq=False, repr=False)
class FirstPassword:
    """Sets first passwords. A stolen token must not be enough to add a way to log in."""

    _passwords: PasswordService
    _reauthentication: Reauthentication

    def set(self, identity: Identity, user_id: str, new: str, proof: Proof, origin: Origin) -> Strength:
        """Set the password, and return its strength.

        Raises:
            Forbidden: the caller is another user.
            ValidationFailed: the password does not meet the policy.
            WrongPassword: the user has a password, which the request does not name.
            StrongroomError: as :meth:`Reauthentication.require`.
        """
        identity.require_self(user_id)
        # Before the proof, which would otherwise be consumed in vain.
        self._passwords.require_none(user_id, new)
        self._reauthentication.require(identity, proof)
        return self._passwords.set_first(identity, new, origin)
