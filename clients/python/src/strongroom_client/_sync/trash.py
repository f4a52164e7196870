"""The trash of a tenant."""

from collections.abc import Iterator

from ..api import trash
from ..models import Node, Restoration, TrashedFile
from ..operations import UNSET, Unset
from ..transfers import OnConflict
from .sending import PAGE_SIZE, Sender


class Trash:
    """Lists, restores and removes deleted files and folders.

    Args:
        sender: sends the operations.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    def iterate(self, tenant_id: str) -> Iterator[TrashedFile]:
        """Iterate over what the user deleted, newest first; for tenant administrators, over all."""
        return self._sender.iterate(trash.list_trash(tenant_id, page_size=PAGE_SIZE))

    def restore(
        self,
        tenant_id: str,
        file_id: str,
        *,
        parent_id: str | Unset | None = UNSET,
        on_conflict: OnConflict = "fail",
    ) -> Node:
        """Restore a file, or a folder with its content.

        Args:
            parent_id: the folder, or ``None`` for the top level; by default the one that it was in.
            on_conflict: what happens if the name is taken.

        Raises:
            NameConflict: the name is taken.
            NotFound: its folder no longer exists.
        """
        body = Restoration(parent_id=parent_id, on_conflict=on_conflict)
        return self._sender.send(trash.restore_from_trash(tenant_id, file_id, body=body))

    def delete(self, tenant_id: str, file_id: str) -> None:
        """Remove a file or folder permanently.

        Raises:
            StepUpRequired: a recent proof of the login is needed; see :meth:`Client.step_up`.
        """
        self._sender.send(trash.delete_from_trash(tenant_id, file_id))

    def empty(self, tenant_id: str) -> None:
        """Remove everything permanently that the user sees in the trash, except held and retained files.

        Raises:
            StepUpRequired: a recent proof of the login is needed; see :meth:`Client.step_up`.
        """
        self._sender.send(trash.empty_trash(tenant_id))
