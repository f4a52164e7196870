"""The modes of self-registration: ``[users] registration``."""

from typing import Final

from strongroom.errors import InvitationRequired, RegistrationClosed

OPEN: Final = "open"
INVITED: Final = "invited"
CLOSED: Final = "closed"


def require_open(mode: str) -> None:
    """Require that users may register themselves.

    Raises:
        InvitationRequired: only invited users may register.
        RegistrationClosed: only administrators create users.
    """
    if mode == INVITED:
        raise InvitationRequired
    if mode == CLOSED:
        raise RegistrationClosed
