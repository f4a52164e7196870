"""Share links, for servers with the plugin ``share_links``."""

from collections.abc import AsyncIterator

from ..api import shares
from ..models import NewShare, Share, ShareChanges, SharedWithMe
from .sending import PAGE_SIZE, AsyncSender


class AsyncShares:
    """Creates, lists and changes links to files and folders.

    Args:
        sender: sends the operations.
    """

    def __init__(self, sender: AsyncSender) -> None:
        self._sender = sender

    async def create(self, tenant_id: str, file_id: str, new: NewShare) -> Share:
        """Share a file or folder. Only this result has the ``url``.

        Raises:
            Forbidden: the user does not manage the file.
        """
        return await self._sender.send(shares.create_share(tenant_id, file_id, body=new))

    def iterate(self, tenant_id: str, file_id: str | None = None) -> AsyncIterator[Share]:
        """Iterate over the links of a tenant or of a file, newest first."""
        if file_id is None:
            return self._sender.iterate(shares.list_shares(tenant_id, page_size=PAGE_SIZE))
        listing = shares.list_shares_of_file(tenant_id, file_id, page_size=PAGE_SIZE)
        return self._sender.iterate(listing)

    def with_me(self) -> AsyncIterator[SharedWithMe]:
        """Iterate over the open links that name the user, or are for members of a tenant."""
        return self._sender.iterate(shares.list_shared_with_me(page_size=PAGE_SIZE))

    async def get(self, tenant_id: str, share_id: str) -> Share:
        """Return a link."""
        return await self._sender.send(shares.get_share(tenant_id, share_id))

    async def change(self, tenant_id: str, share_id: str, changes: ShareChanges) -> Share:
        """Change a link. A new password ends all proofs of the former one."""
        return await self._sender.send(shares.update_share(tenant_id, share_id, body=changes))

    async def delete(self, tenant_id: str, share_id: str) -> None:
        """Delete a link with its records. Dropped files remain."""
        await self._sender.send(shares.delete_share(tenant_id, share_id))
