"""Implements ``host.logins``."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from strongroom.assembly.plugin_host.acting import ActingUser
from strongroom.extensions.platform_logins.service import PlatformLogins
from strongroom.identity.users.models import MAX_REASON
from strongroom.plugin_api.login import Credential
from strongroom.plugin_api.logins import LiveCredential, LoginsAPI

_MAX_SIZE: Final = 1000


@dataclass(slots=True, eq=False, repr=False)
class HostLogins(LoginsAPI):
    """Implements ``host.logins``.

    Args:
        user: the services of the process, and the origin for audit records.
    """

    _user: ActingUser

    def credentials(self, kind: str, *, after: str = "", size: int = 500) -> Sequence[LiveCredential]:
        if not 1 <= size <= _MAX_SIZE:
            raise ValueError(f"a page has 1 to {_MAX_SIZE} credentials")
        return self._logins.credentials(kind, after, size)

    def end(self, credential: Credential, *, session: str | None = None) -> int:
        return self._logins.end(credential, session, self._user.signed_origin())

    def end_session(self, method: str, session: str) -> int:
        return self._logins.end_session(method, session, self._user.signed_origin())

    def suspend(self, credential: Credential, *, reason: str) -> bool:
        if len(reason) > MAX_REASON:
            raise ValueError(f"a reason has at most {MAX_REASON} characters")
        return self._logins.suspend(credential, reason, self._user.signed_origin())

    @property
    def _logins(self) -> PlatformLogins:
        return self._user.services().get(PlatformLogins)
