"""Earlier contents of files."""

from collections.abc import Iterator

from ..api import versions
from ..models import Node, Version, VersionChanges
from ..operations import UNSET, Unset
from .sending import PAGE_SIZE, Sender
from .session import Session


class Versions:
    """Lists, reads and restores earlier contents of a file.

    Args:
        sender: sends the operations.
        session: streams contents.
    """

    def __init__(self, sender: Sender, session: Session) -> None:
        self._sender = sender
        self._session = session

    def iterate(self, tenant_id: str, file_id: str) -> Iterator[Version]:
        """Iterate over the earlier contents, newest first; the current one is not among them."""
        return self._sender.iterate(versions.list_versions(tenant_id, file_id, page_size=PAGE_SIZE))

    def stream(self, tenant_id: str, file_id: str, number: int) -> Iterator[bytes]:
        """Iterate over an earlier content, while it arrives."""
        operation = versions.download_version(tenant_id, file_id, str(number))
        with self._session.stream(operation) as response:
            for piece in response.iter_bytes():
                yield piece

    def change(
        self,
        tenant_id: str,
        file_id: str,
        number: int,
        *,
        label: str | Unset | None = UNSET,
        keep: bool | Unset = UNSET,
    ) -> Version:
        """Label an earlier content, or keep it whatever its age."""
        body = VersionChanges(label=label, keep=keep)
        operation = versions.change_version(tenant_id, file_id, str(number), body=body)
        return self._sender.send(operation)

    def restore(self, tenant_id: str, file_id: str, number: int) -> Node:
        """Give the file an earlier content again; the current one becomes a version."""
        return self._sender.send(versions.restore_version(tenant_id, file_id, str(number)))

    def delete(self, tenant_id: str, file_id: str, number: int) -> None:
        """Remove an earlier content permanently.

        Raises:
            StepUpRequired: a recent proof of the login is needed; see :meth:`Client.step_up`.
        """
        self._sender.send(versions.delete_version(tenant_id, file_id, str(number)))
