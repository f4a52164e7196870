"""Logins: ``host.logins``. Routes of plugins log in, bind and unbind by the rules of the core's routes.

A platform decides about its people: it ends their sessions, and they leave it. A plugin that logs in its
people follows, without a caller::

    for live in host.logins.credentials("acme"):
        if not platform.knows(live.credential.value):
            host.logins.suspend(live.credential, reason="Has left Acme")

Each change is recorded in the audit log with the name of the plugin.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from strongroom.plugin_api.login import Credential, LoginOptions, VerificationCode

if TYPE_CHECKING:
    from strongroom.plugin_api.web import State


@dataclass(frozen=True, slots=True)
class LiveCredential:
    """A credential whose user is active, and has a login or an access key that has not ended."""

    credential: Credential
    user_id: str


class LoginsAPI(ABC):
    """How users log in, and the logins that were made with credentials of a platform.

    :meth:`credentials`, :meth:`end`, :meth:`end_session`, :meth:`end_of_members` and :meth:`suspend`
    need no caller and no request.
    """

    @property
    @abstractmethod
    def options(self) -> LoginOptions:
        """How users log in, for pages that show only what the server offers."""

    @abstractmethod
    def log_in(self, method: str, proof: Mapping[str, str]) -> Any:
        """Log in with a proof for a login method; return the route's response, with the tokens.

        Rate limits, user lookup, suspension, the audit log and the headers are as for every login.
        """

    @abstractmethod
    def bind(
        self,
        user_id: str,
        method: str,
        proof: Mapping[str, str],
        *,
        replaced: Callable[[Sequence[Credential]], Collection[Credential]],
        held_code: VerificationCode | None = None,
        current_password: str | None = None,
    ) -> Any:
        """Check a proof with a login method, and bind the verified credentials to the calling user.

        The access token is not enough: the user must also present a code sent to a current contact;
        without contacts, the current password; without a password, a login within the last 5 minutes.

        Args:
            user_id: the user in the path, an id or ``me``; it must be the caller.
            method: the name of the login method.
            proof: the proof for the method.
            replaced: called with all credentials of the user, including the new ones; returns those to
                release, such as another account of the same platform.
            held_code: a code for ``bind``, sent to a current contact; ``None``: the code in the header
                ``X-Verification-Code``.
            current_password: the user's current password.
        """

    @abstractmethod
    def unbind(self, user_id: str, kinds: Collection[str], *, prefix: str = "") -> Any:
        """Unbind all credentials of some kinds from the calling user.

        Requires a verification code in the header ``X-Verification-Code``. An e-mail address or mobile
        number must remain, so that the user can still log in.

        Args:
            prefix: the beginning of the values to unbind, such as one provider's.
        """

    @abstractmethod
    def issue_state(self, purpose: str, data: Mapping[str, str], *, for_user: bool = False) -> "State":
        """Issue a state, bound to the browser by a cookie in the response.

        Args:
            purpose: the purpose that :meth:`consume_state` must name; one word.
            data: the result of :meth:`consume_state`; stored on the server.
            for_user: whether only the calling user may use the state.
        """

    @abstractmethod
    def consume_state(self, value: str, purpose: str, *, for_user: bool = False) -> Mapping[str, str]:
        """Consume a state and return its data. The arguments must equal :meth:`issue_state`'s.

        A state is refused if it is unknown, expired or used, or of another browser, user or purpose.
        """

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
    def end_of_members(
        self,
        tenant_id: str,
        domains: Collection[str],
        *,
        but_method: str,
        but: Collection[str] = (),
        kind: str = "",
        prefix: str = "",
        user_id: str | None = None,
    ) -> int:
        """Revoke the logins of a tenant's members that other methods have made; return their number.

        Access keys stay, and so do the logins of administrators of the server.

        Args:
            domains: only of members who have verified an e-mail address in one of these; A-labels in
                lowercase.
            but_method: the login method whose logins stay.
            but: the ids of users whose logins stay.
            kind: also of members with a credential of this kind; empty: of no others.
            prefix: the beginning of the values of these credentials.
            user_id: only of this member; ``None``: of all.
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
