"""Service accounts of the server, which provision users and tenants for other systems."""

from collections.abc import Iterator

from ..api import access_keys, server_accounts
from ..models import AccessKey, CreatedKey, NewKey, NewServiceAccount, ServiceAccount
from .sending import PAGE_SIZE, Sender


class ServiceAccounts:
    """Creates and lists service accounts and their keys, for a client with an administrator's login.

    Args:
        sender: sends the operations.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def create(self, name: str) -> ServiceAccount:
        """Create a service account, which never logs in: it acts by access keys."""
        return self._sender.send(
            server_accounts.create_server_account(body=NewServiceAccount(name=name))
        )

    def iterate(self) -> Iterator[ServiceAccount]:
        """Iterate over the service accounts of the server, oldest first."""
        return self._sender.iterate(server_accounts.list_server_accounts(page_size=PAGE_SIZE))

    def rename(self, account_id: str, name: str) -> ServiceAccount:
        """Rename a service account."""
        return self._sender.send(
            server_accounts.rename_server_account(account_id, body=NewServiceAccount(name=name))
        )

    def delete(self, account_id: str) -> None:
        """Delete a service account with its keys."""
        self._sender.send(server_accounts.delete_server_account(account_id))

    def create_key(self, account_id: str, new: NewKey) -> CreatedKey:
        """Create an access key. Only this result has the key.

        Raises:
            ApiError: the scopes are those of files, or the login is older than 10 minutes and ``new``
                has neither the current password of the administrator nor a code.
        """
        return self._sender.send(access_keys.create_access_key(account_id, body=new))

    def keys(self, account_id: str) -> Iterator[AccessKey]:
        """Iterate over the access keys of a service account, newest first."""
        return self._sender.iterate(access_keys.list_access_keys(account_id, page_size=PAGE_SIZE))

    def revoke_key(self, account_id: str, key_id: str) -> None:
        """Revoke an access key, which is refused from the next request on."""
        self._sender.send(access_keys.revoke_access_key(account_id, key_id))
