"""What access keys may change of users."""

from strongroom.foundation.caller import Identity
from strongroom.foundation.errors import Forbidden
from strongroom.identity.users.models import User, UserType


def require_manageable(identity: Identity, user: User) -> None:
    """Require that an access key changes neither an administrator nor a service account.

    Otherwise a stolen key could lock out or impersonate those who could revoke it.

    Raises:
        Forbidden: the caller has an access key, and the user is one of these.
    """
    if identity.key is not None and user.type != UserType.USER:
        raise Forbidden("An access key cannot change this type of user.")
