"""What logins were made with, so that the platform of a credential can end them."""

from dataclasses import dataclass
from typing import Final

from strongroom.foundation.secret_keys import SecretKeys
from strongroom.plugin_api.login import Credential, VerifiedCredential

_PURPOSE: Final = "login-source"


@dataclass(frozen=True, slots=True)
class LoginSource:
    """What a login was made with.

    Args:
        credential_hash: a keyed hash, because a login outlives the credential of a user who unbinds it;
            ``None``: a second factor alone, or an impersonation.
        upstream_session: the session of the platform that proved the credential.
    """

    credential_hash: str | None = None
    upstream_session: str | None = None


NO_SOURCE: Final = LoginSource()


@dataclass(slots=True, eq=False, repr=False)
class LoginSources:
    """Makes the sources of logins."""

    _keys: SecretKeys

    def find(self, verified: VerifiedCredential | None) -> LoginSource:
        """Return the source of a login: the main credential, and the session of the platform."""
        if verified is None:
            return NO_SOURCE
        return LoginSource(self.hash(verified.credential), verified.session)

    def hash(self, credential: Credential) -> str:
        """Return the keyed hash of a credential."""
        return self._keys.hash(_PURPOSE, f"{credential.kind}\0{credential.value}")
