"""A login in progress: the way that it takes, and its only open step.

Every change of an attempt is here, and each returns an attempt with the data of one step at most. So no
challenge and no code is left when a user takes another way, and no proof of one way completes another.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

PROOF: Final = "proof"
"""The step that needs a password or a code of :attr:`Attempt.username`, where the name comes first."""

RECIPIENT: Final = "recipient"
"""The step before a code is sent to :attr:`Attempt.username`."""

CODE: Final = "code"
"""The step that needs the code; its data has ``id``, ``expires_at`` and ``retry_at`` of the code."""

CHALLENGE: Final = "challenge"
"""The step that needs a second factor; its data has ``id``, ``methods`` and ``shown``."""

ENROLMENT: Final = "enrolment"
"""The step that needs the enrolment of a second factor; its data has ``id`` and ``kinds``."""

RESET: Final = "reset"
"""The step that needs the code for a new password; its data is as for :data:`CODE`."""

REGISTRATION: Final = "registration"
"""The step that needs the code of a new contact; its data is as for :data:`CODE`."""

INVITATION: Final = "invitation"
"""The step before the code of an invited contact; its data has ``invitation``."""

CONSENT: Final = "consent"
"""The step that needs the consent to the terms; its data has ``id``."""

_MAX_NAME: Final = 254
"""The longest name that the cookie keeps: an e-mail address's (RFC 5321, section 4.5.3.1)."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A login in progress.

    Args:
        way: what the first proof is, such as ``password``; ``None`` until a way was taken.
        username: the name that the user has entered, for the forms that follow.
        step: the open step; ``None``: the login page.
        data: what the open step needs.
        welcome: the key of the text that the page after the login shows, if any.
    """

    way: str | None = None
    username: str = ""
    step: str | None = None
    data: Mapping[str, Any] = field(default_factory=dict, repr=False)
    welcome: str | None = None

    def taking(self, way: str | None, username: str = "", *, welcome: str | None = None) -> "Attempt":
        """Return the attempt that begins by a way."""
        return Attempt(way, username if len(username) <= _MAX_NAME else "", welcome=welcome)

    def at(self, step: str, data: Mapping[str, Any] | None = None) -> "Attempt":
        """Return the attempt with this open step only."""
        return Attempt(self.way, self.username, step, data or {}, self.welcome)

    def switched(self, username: str | None = None) -> "Attempt":
        """Return the attempt of a user who takes another way: nothing is left but the name.

        Args:
            username: the name; ``None``: the one before.
        """
        return Attempt().taking(None, self.username if username is None else username)

    def data_of(self, *steps: str) -> Mapping[str, Any] | None:
        """Return the data if one of these steps is open."""
        return self.data if self.step in steps else None
