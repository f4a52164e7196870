"""The tenants to which addresses belong, as plugins know them."""

from collections.abc import Callable, Iterable

from sqlalchemy import Connection

from strongroom.foundation.errors import CredentialTaken

FindOwner = Callable[[Connection, str], str | None]
"""Returns the tenant that an address belongs to, or ``None``."""


class AddressOwners:
    """Calls the functions of plugins that know to which tenants addresses belong."""

    def __init__(self) -> None:
        self._functions: Iterable[FindOwner] = ()

    def find_by(self, functions: Iterable[FindOwner]) -> None:
        """Set the functions. They are read at each question."""
        self._functions = functions

    def owns(self, connection: Connection, tenant_id: str | None, email: str) -> bool:
        """Return whether an address belongs to the tenant of a directory.

        Args:
            tenant_id: the tenant; ``None``: the server, which owns no address; all are free for it.

        Raises:
            CredentialTaken: it belongs to another tenant, with the answer as for another user's address.
        """
        if tenant_id is None:
            return False
        owners = {owner for find in self._functions if (owner := find(connection, email)) is not None}
        if owners - {tenant_id}:
            raise CredentialTaken
        return bool(owners)
