"""Logins by the credentials of a platform: ``host.logins`` (API 1.2).

A platform decides about its people: it ends their sessions, and they leave it. A plugin that logs in its
people follows, without a caller::

    for live in host.logins.credentials("acme"):
        if not platform.knows(live.credential.value):
            host.logins.suspend(live.credential, reason="Has left Acme")

Each change is recorded in the audit log with the name of the plugin.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from strongroom.plugin_api.login import Credential


@dataclass(frozen=True, slots=True)
class LiveCredential:
    """A credential whose user is active, and has a login or an access key that has not ended."""

    credential: Credential
    user_id: str


class LoginsAPI(ABC):
    """The logins that were made with credentials of a platform. Callable without a caller."""

    @abstractmethod
    def credentials(self, kind: str, *, after: str = "", size: int = 500) -> Sequence[LiveCredential]:
        """Return live credentials of a kind, in the order of their values.

        Args:
            kind: the kind of the credentials.
            after: only values behind this one, to go on where a call has stopped.
            size: the maximum number of credentials, 1 to 1000.
        """

    @abstractmethod
    def end(self, credential: Credential, *, session: str | None = None) -> int:
        """Revoke the logins that were made with a credential; return their number.

        They end before this returns, in all processes and nodes; downloads end within a second.

        Args:
            credential: the main credential of the logins. Its user need not hold it any more.
            session: only logins of this session of the platform.
        """

    @abstractmethod
    def end_session(self, method: str, session: str) -> int:
        """Revoke the logins of a session of the platform; return their number.

        Args:
            method: the login method that made them.
            session: see :class:`~strongroom.plugin_api.login.VerifiedCredential`.
        """

    @abstractmethod
    def suspend(self, credential: Credential, *, reason: str) -> bool:
        """End what a person of a platform could do; return whether there was something to end.

        A user whose account came from the platform is suspended, as by an administrator: all logins,
        keys and links end. Of another user, who only connected the platform, the logins by it end.
        Nothing happens if no active user holds it, or if the user is the last administrator of the
        server, whose suspension would lock everyone out; the log then has a warning.

        Args:
            credential: the credential.
            reason: at most 255 characters, for administrators only.
        """
