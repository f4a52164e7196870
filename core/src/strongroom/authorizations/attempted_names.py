"""Audit details of failed logins whose name belongs to no user."""

from collections.abc import Callable, Mapping
from typing import Final

from strongroom.credentials.service import CredentialService
from strongroom.secret_keys import SecretKeys

_PURPOSE: Final = "login-name"
# 64 bits are enough to compare names.
_HASH_LENGTH: Final = 16


class AttemptedNames:
    """Login names as attackers and users typed them.

    Users sometimes type their password into the name field. So a text is recorded only if it has the
    form of an address, number or username, and cannot be a password of this server, which has an
    uppercase letter, a lowercase letter and a digit. For other texts a keyed hash is recorded, which
    shows whether attempts share a name.

    Args:
        credentials: recognises names.
        keys: hashes texts that are not recorded.
    """

    def __init__(self, credentials: CredentialService, keys: SecretKeys) -> None:
        self._credentials = credentials
        self._keys = keys

    def details(self, name: str) -> Mapping[str, str]:
        """Return the details of an audit event: ``name`` or ``nameHash``; empty without a name."""
        if not name:
            return {}
        credential = self._credentials.identify(name)
        if credential is not None and not _may_be_password(name):
            return {"name": credential.value}
        canonical = self._credentials.canonical_name(name)
        return {"nameHash": self._keys.hash(_PURPOSE, canonical)[:_HASH_LENGTH]}


def _may_be_password(text: str) -> bool:
    kinds: tuple[Callable[[str], bool], ...] = (str.isupper, str.islower, str.isdigit)
    return all(any(map(kind, text)) for kind in kinds)
