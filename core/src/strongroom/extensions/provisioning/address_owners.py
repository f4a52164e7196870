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

    def require_free(self, connection: Connection, tenant_id: str | None, email: str) -> None:
        """Require that an address belongs to no other tenant than a directory does.

        Args:
            tenant_id: the tenant of the directory; ``None``: the server, which any address is free for.

        Raises:
            CredentialTaken: it does, with the same answer as for an address of another user.
        """
        if tenant_id is None:
            return
        for find in self._functions:
            if find(connection, email) not in (None, tenant_id):
                raise CredentialTaken
