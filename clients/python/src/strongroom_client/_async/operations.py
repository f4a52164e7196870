"""Operations that most programs need, as methods of the client."""

import datetime
from collections.abc import AsyncIterator
from typing import Literal

from ..api import file_changes, files, search, tenants, users
from ..models import Copy, Directory, NewFolder, NewTenant, Node, Rename, Tenant, User
from ..operations import UNSET, Unset
from ..transfers import OnConflict
from .grants import AsyncGrants
from .sending import PAGE_SIZE, AsyncSender
from .service_accounts import AsyncServiceAccounts
from .session import AsyncSession
from .shares import AsyncShares
from .trash import AsyncTrash
from .user_imports import AsyncUserImports
from .users import AsyncUsers
from .versions import AsyncVersions


class AsyncOperations(AsyncSender):
    """Sends operations.

    Args:
        session: sends the requests.
    """

    def __init__(self, session: AsyncSession) -> None:
        super().__init__(session)
        self.users = AsyncUsers(self)
        """Users as administrators manage them."""
        self.user_imports = AsyncUserImports(self)
        """Imports of users of another system."""
        self.service_accounts = AsyncServiceAccounts(self)
        """Service accounts of the server."""
        self.grants = AsyncGrants(self)
        """Permissions on files and folders."""
        self.shares = AsyncShares(self)
        """Share links."""
        self.trash = AsyncTrash(self)
        """Deleted files and folders."""
        self.versions = AsyncVersions(self, session)
        """Earlier contents of files."""

    async def me(self) -> User:
        """Return the user who is logged in."""
        return await self.send(users.get_user("me"))

    def tenants(self) -> AsyncIterator[Tenant]:
        """Iterate over the user's tenants."""
        return self.iterate(tenants.list_tenants(page_size=PAGE_SIZE))

    async def create_tenant(self, name: str) -> Tenant:
        """Create a tenant, whose administrator is the user."""
        return await self.send(tenants.create_tenant(body=NewTenant(name=name)))

    def files(self, tenant_id: str, folder_id: str | None = None) -> AsyncIterator[Node]:
        """Iterate over the files and folders in a folder, or at the top level, by name."""
        if folder_id is None:
            return self.iterate(files.list_files(tenant_id, "me", page_size=PAGE_SIZE))
        listing = files.list_files_in_folder(tenant_id, "me", folder_id, page_size=PAGE_SIZE)
        return self.iterate(listing)

    async def file(self, tenant_id: str, file_id: str) -> Node:
        """Return a file or folder."""
        return await self.send(files.get_file(tenant_id, file_id))

    async def create_folder(self, tenant_id: str, name: str, parent_id: str | None = None) -> Node:
        """Create a folder in a folder, or at the top level."""
        body = NewFolder(name=name)
        if parent_id is None:
            return await self.send(files.create_folder(tenant_id, body=body))
        return await self.send(files.create_folder_in_folder(tenant_id, parent_id, body=body))

    async def rename(self, tenant_id: str, file_id: str, name: str) -> Node:
        """Rename a file or folder."""
        return await self.send(file_changes.rename_file(tenant_id, file_id, body=Rename(name=name)))

    async def move(
        self, tenant_id: str, file_id: str, parent_id: str | None, name: str | None = None
    ) -> Node:
        """Move a file or folder into a folder, or with ``None`` to the top level; rename it if named."""
        body = Directory(parent_id=parent_id, name=UNSET if name is None else name)
        return await self.send(file_changes.move_file(tenant_id, file_id, body=body))

    async def copy(
        self,
        tenant_id: str,
        file_id: str,
        parent_id: str | None,
        name: str | None = None,
        *,
        on_conflict: OnConflict = "fail",
    ) -> Node:
        """Copy a file, or a folder with up to 1,000 files and folders; ``None`` is the top level.

        The user owns the copies. No bytes are transferred.

        Raises:
            NameConflict: the name is taken.
        """
        body = Copy(parent_id=parent_id, name=UNSET if name is None else name)
        operation = file_changes.copy_file(tenant_id, file_id, body=body, on_conflict=on_conflict)
        return await self.send(operation)

    def search(
        self,
        tenant_id: str,
        text: str,
        *,
        folder_id: str | Unset = UNSET,
        type_: Literal["file", "folder"] | Unset = UNSET,
        content_type: str | Unset = UNSET,
        modified_after: datetime.datetime | Unset = UNSET,
        min_size: int | Unset = UNSET,
    ) -> AsyncIterator[Node]:
        """Iterate over the files and folders whose name contains a text, at most 1,000.

        Args:
            folder_id: only below this folder.
            min_size: only files of at least so many bytes.
        """
        listing = search.search_files(
            tenant_id,
            query=text,
            parent_id=folder_id,
            type_=type_,
            content_type=content_type,
            modified_after=modified_after,
            min_size=min_size,
            page_size=PAGE_SIZE,
        )
        return self.iterate(listing)

    async def delete(self, tenant_id: str, file_id: str) -> None:
        """Move a file or folder to the trash, if the server has one; otherwise delete it."""
        await self.send(files.delete_file(tenant_id, file_id))
