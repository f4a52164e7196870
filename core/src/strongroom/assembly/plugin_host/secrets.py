"""Implements ``host.secrets``."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from strongroom.identity.users.password_hashing import PasswordHasher, StoredPassword
from strongroom.plugin_api.secrets import SecretsAPI

if TYPE_CHECKING:
    from strongroom.assembly.services import Services


@dataclass(slots=True, eq=False, repr=False)
class HostSecrets(SecretsAPI):
    """Implements ``host.secrets``.

    Args:
        services: returns the services of the process.
    """

    _plugin: str
    _services: Callable[[], "Services"]

    @property
    def _purpose(self) -> str:
        return f"plugin:{self._plugin}"

    def seal(self, text: str) -> str:
        return self._services().base.keys.seal(self._purpose, text)

    def unseal(self, sealed: str) -> str:
        return self._services().base.keys.unseal(self._purpose, sealed)

    def keyed_hash(self, text: str) -> str:
        return self._services().base.keys.hash(self._purpose, text)

    def hash_password(self, password: str) -> str:
        return self._services().get(PasswordHasher).hash(password).hash

    def verify_password(self, password: str, stored: str) -> bool:
        return self._services().get(PasswordHasher).verify(password, StoredPassword(stored))
