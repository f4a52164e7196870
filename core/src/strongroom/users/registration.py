"""Who may become a user without an administrator: ``[users] registration``."""

from typing import Final

from strongroom.errors import InvitationRequired, RegistrationClosed

OPEN: Final = "open"
INVITED: Final = "invited"
CLOSED: Final = "closed"


def require_open(mode: str) -> None:
    """Pass if users may register themselves.

    Raises:
        InvitationRequired: only invited users may.
        RegistrationClosed: nobody may; administrators create users.
    """
    if mode == INVITED:
        raise InvitationRequired
    if mode == CLOSED:
        raise RegistrationClosed
