"""Permissions of members and groups on files and folders."""

from collections.abc import Iterator

from ..api import permissions
from ..models import Access, Grant, GroupGrant, NewGrant, NewGroupGrant
from ..operations import UNSET
from .sending import PAGE_SIZE, Sender


class SyncGrants:
    """Lists, sets and revokes grants. One on a folder applies to everything below it.

    Args:
        sender: sends the operations.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def iterate(self, tenant_id: str, file_id: str) -> Iterator[Grant]:
        """Iterate over the members' grants on a file or folder itself, without its parent folders'."""
        listing = permissions.list_grants(tenant_id, file_id, page_size=PAGE_SIZE)
        return self._sender.iterate(listing)

    def set(self, tenant_id: str, file_id: str, grant: NewGrant) -> Grant:
        """Grant a permission to a member of the tenant, in place of the member's former grant.

        Raises:
            Forbidden: the user does not manage the file.
        """
        return self._sender.send(permissions.put_grant(tenant_id, file_id, body=grant))

    def revoke(self, tenant_id: str, file_id: str, user_id: str) -> None:
        """Revoke a member's grant, if there is one."""
        self._sender.send(permissions.delete_grant(tenant_id, file_id, user_id))

    def iterate_groups(self, tenant_id: str, file_id: str) -> Iterator[GroupGrant]:
        """Iterate over the groups' grants on a file or folder itself, without its parent folders'."""
        listing = permissions.list_group_grants(tenant_id, file_id, page_size=PAGE_SIZE)
        return self._sender.iterate(listing)

    def set_group(self, tenant_id: str, file_id: str, grant: NewGroupGrant) -> GroupGrant:
        """Grant a permission to a group of the tenant, in place of the group's former grant.

        Raises:
            Forbidden: the user does not manage the file.
        """
        return self._sender.send(permissions.put_group_grant(tenant_id, file_id, body=grant))

    def revoke_group(self, tenant_id: str, file_id: str, group_id: str) -> None:
        """Revoke a group's grant, if there is one."""
        self._sender.send(permissions.delete_group_grant(tenant_id, file_id, group_id))

    def explain(self, tenant_id: str, file_id: str, user_id: str | None = None) -> Access:
        """Return a user's permission, and the role and grants that it comes from.

        Args:
            user_id: another user than the caller.

        Raises:
            Forbidden: the caller does not manage the file.
        """
        operation = permissions.explain_access(tenant_id, file_id, user_id=user_id or UNSET)
        return self._sender.send(operation)
