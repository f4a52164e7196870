"""Paths of files on the server: ``TENANT:/folder/file``, with the name or the id of a tenant."""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

import click

from .._sync.client import Client
from ..api import files
from ..models import Node, NodeCollection, TrashedFile
from ..operations import UNSET, Operation, Unset

PAGE_SIZE = 200


@dataclass(frozen=True, slots=True)
class RemotePath:
    """A path as the user writes it."""

    tenant: str
    parts: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> "RemotePath":
        """Parse a path.

        Raises:
            click.BadParameter: it names no tenant.
        """
        tenant, colon, path = text.partition(":")
        if not colon or not tenant or "/" in tenant:
            raise click.BadParameter(f"{text} is not TENANT:/path, such as Acme:/Reports")
        return cls(tenant, tuple(part for part in normalized(path).split("/") if part not in ("", ".")))

    @property
    def parent(self) -> "RemotePath":
        """The path of the folder."""
        return RemotePath(self.tenant, self.parts[:-1])

    def __str__(self) -> str:
        return f"{self.tenant}:/{'/'.join(self.parts)}"


def is_remote(text: str) -> bool:
    """Return whether a path is on the server; ``./a:b`` is a local one."""
    return ":" in text.partition("/")[0]


def normalized(path: str) -> str:
    """Return a path in Unicode normalization form C, as the names on the server are."""
    return unicodedata.normalize("NFC", path)


class Tree:
    """The files of a tenant that the caller can see.

    Args:
        client: the client.
        tenant_id: the tenant.
    """

    def __init__(self, client: Client, tenant_id: str) -> None:
        self.client = client
        self.tenant_id = tenant_id

    @classmethod
    def of(cls, client: Client, name: str) -> "Tree":
        """Return the tree of the tenant with a name or an id.

        An id needs no list of the tenants, for which an access key may lack the scope.

        Raises:
            click.ClickException: there is none, or several have the name.
        """
        if is_id(name):
            return cls(client, name)
        found = [each for each in client.tenants() if each.name == name]
        if not found:
            raise Missing(f"There is no tenant {name}.")
        if len(found) > 1:
            ids = ", ".join(each.id for each in found)
            raise click.ClickException(f"Several tenants have the name {name}; use an id: {ids}.")
        return cls(client, found[0].id)

    def children(self, folder: str | None, *, named: str | None = None) -> Iterator[Node]:
        """Iterate over the nodes in a folder, or at the top level."""
        return self.client.iterate(self._listing(folder, UNSET if named is None else named))

    def find(self, path: RemotePath) -> Node | None:
        """Return the node at a path; ``None`` for the top level.

        Raises:
            Missing: there is no such node.
        """
        node: Node | None = None
        for part in path.parts:
            node = self._child(None if node is None else node.id, part)
            if node is None:
                raise Missing(f"{path} does not exist.")
        return node

    def existing(self, path: RemotePath) -> Node:
        """Return the file or folder at a path.

        Raises:
            Missing: there is none.
            click.BadParameter: the path is the top level.
        """
        node = self.find(path)
        if node is None:
            raise click.BadParameter(f"{path} is a tenant as a whole")
        return node

    def trashed(self, path: RemotePath) -> TrashedFile:
        """Return what was deleted last at a path, or what has the id that the path consists of.

        Raises:
            Missing: there is nothing in the trash, or the folder of the path does not exist.
            click.BadParameter: the path is the top level.
        """
        if not path.parts:
            raise click.BadParameter(f"{path} is a tenant as a whole")
        name = path.parts[-1]
        by_id = len(path.parts) == 1 and is_id(name)
        parent = self.folder(path.parent)
        for item in self.client.trash.iterate(self.tenant_id):
            if item.id == name if by_id else (item.name, item.parent_id) == (name, parent):
                return item
        raise Missing(f"{path} is not in the trash.")

    def destination(self, path: RemotePath, name: str) -> tuple[str | None, str]:
        """Return the folder and the new name of a node that is moved to a path.

        An existing folder receives the node with its name.

        Raises:
            Missing: there is no such folder.
        """
        if not path.parts:
            return None, name
        parent = self.folder(path.parent)
        existing = self._child(parent, path.parts[-1])
        if existing is not None and existing.type_ == "folder":
            return existing.id, name
        return parent, path.parts[-1]

    def folder(self, path: RemotePath) -> str | None:
        """Return the id of the folder at a path; ``None`` for the top level.

        Raises:
            Missing: there is no such folder.
        """
        node = self.find(path)
        if node is not None and node.type_ != "folder":
            raise Missing(f"{path} is no folder.")
        return None if node is None else node.id

    def make_folders(self, path: RemotePath) -> str | None:
        """Return the id of the folder at a path, which is created with its parents."""
        folder: str | None = None
        for part in path.parts:
            folder = self.folder_in(folder, part).id
        return folder

    def folder_in(self, parent: str | None, name: str) -> Node:
        """Return the folder with a name in another one, which is created if there is none."""
        return self._child(parent, normalized(name)) or self.make_folder(parent, name)

    def make_folder(self, parent: str | None, name: str) -> Node:
        """Create a folder."""
        return self.client.create_folder(self.tenant_id, name, parent)

    def _child(self, parent: str | None, name: str) -> Node | None:
        children = self.children(parent, named=name)
        return next((node for node in children if node.name == name), None)

    def _listing(self, folder: str | None, named: str | Unset) -> Operation[NodeCollection]:
        if folder is None:
            return files.list_files(self.tenant_id, "me", page_size=PAGE_SIZE, q=named)
        return files.list_files_in_folder(self.tenant_id, "me", folder, page_size=PAGE_SIZE, q=named)


class Missing(click.ClickException):
    """A tenant or a path does not exist."""

    exit_code = 4


def is_id(text: str) -> bool:
    """Return whether a text is an id, as the server makes them."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False
