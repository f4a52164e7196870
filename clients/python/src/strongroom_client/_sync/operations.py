"""Operations that most programs need, as methods of the client."""

from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

from ..api import file_changes, files, tenants, users
from ..models import Directory, NewFolder, NewTenant, Node, Rename, Tenant, User
from ..operations import UNSET, Item_co, Operation, Page, Result_co
from .session import Session

_PAGE_SIZE = 200


class Operations:
    """Sends operations.

    Args:
        session: sends the requests.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def send(self, operation: Operation[Result_co]) -> Result_co:
        """Send an operation of ``strongroom_client.api`` and return its result.

        Raises:
            ApiError: the server refused it.
            ConnectionFailed: there was no response.
        """
        return self._session.send(operation)

    def iterate(self, operation: Operation[Page[Item_co]]) -> Iterator[Item_co]:
        """Iterate over all records of a list, page by page.

        Records that are created or removed meanwhile may be repeated or left out.

        Args:
            operation: returns the first page.
        """
        following: Operation[Page[Item_co]] | None = operation
        while following is not None:
            page = self.send(following)
            for item in page.data:
                yield item
            following = _next(following, page.meta.next_page_link)

    def me(self) -> User:
        """Return the user who is logged in."""
        return self.send(users.get_user("me"))

    def tenants(self) -> Iterator[Tenant]:
        """Iterate over the user's tenants."""
        return self.iterate(tenants.list_tenants(page_size=_PAGE_SIZE))

    def create_tenant(self, name: str) -> Tenant:
        """Create a tenant, whose administrator is the user."""
        return self.send(tenants.create_tenant(body=NewTenant(name=name)))

    def files(self, tenant_id: str, folder_id: str | None = None) -> Iterator[Node]:
        """Iterate over the files and folders in a folder, or at the top level, by name."""
        if folder_id is None:
            return self.iterate(files.list_files(tenant_id, "me", page_size=_PAGE_SIZE))
        listing = files.list_files_in_folder(tenant_id, "me", folder_id, page_size=_PAGE_SIZE)
        return self.iterate(listing)

    def file(self, tenant_id: str, file_id: str) -> Node:
        """Return a file or folder."""
        return self.send(files.get_file(tenant_id, file_id))

    def create_folder(self, tenant_id: str, name: str, parent_id: str | None = None) -> Node:
        """Create a folder in a folder, or at the top level."""
        body = NewFolder(name=name)
        if parent_id is None:
            return self.send(files.create_folder(tenant_id, body=body))
        return self.send(files.create_folder_in_folder(tenant_id, parent_id, body=body))

    def rename(self, tenant_id: str, file_id: str, name: str) -> Node:
        """Rename a file or folder."""
        return self.send(file_changes.rename_file(tenant_id, file_id, body=Rename(name=name)))

    def move(self, tenant_id: str, file_id: str, parent_id: str | None, name: str | None = None) -> Node:
        """Move a file or folder into a folder, or with ``None`` to the top level; rename it if named."""
        body = Directory(parent_id=parent_id, name=UNSET if name is None else name)
        return self.send(file_changes.move_file(tenant_id, file_id, body=body))

    def delete(self, tenant_id: str, file_id: str) -> None:
        """Move a file or folder to the trash, if the server has one; otherwise delete it."""
        self.send(files.delete_file(tenant_id, file_id))


def _next(operation: Operation[Page[Item_co]], link: str | None) -> Operation[Page[Item_co]] | None:
    """Return the operation for the next page.

    Only the query of the link is taken, because this client may reach the server by another URL than its
    public one.
    """
    if link is None:
        return None
    return replace(operation, query=dict(parse_qsl(urlsplit(link).query)))
