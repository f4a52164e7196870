"""Deletions in the transaction of another change."""

from collections.abc import Iterator
from contextlib import contextmanager

from sqlalchemy import Connection

from strongroom.assembly.plugin_host.caller import AsCaller
from strongroom.content.files.service import FileService
from strongroom.content.nodes import operations
from strongroom.content.nodes.file_writer import Prepare, prepare_nothing
from strongroom.content.storage.models import Released
from strongroom.plugin_api.files import FileInfo


class Replacing(AsCaller):
    """Changes that replace another node."""

    @contextmanager
    def _deleting_first(self, tenant_id: str, replaced: FileInfo | None) -> Iterator[Prepare]:
        """Give the change of a block what deletes a node at the beginning of its transaction.

        Args:
            replaced: what the change replaces; ``None``: nothing.
        """
        if replaced is None:
            yield prepare_nothing
            return
        files, caller = self._get(FileService), self._caller(operations.DELETE, tenant_id, replaced.id)
        released: list[Released] = []

        def delete(connection: Connection) -> None:
            released.extend(
                files.delete_within(connection, caller, tenant_id, replaced.id, replaced.revision)
            )

        yield delete
        files.remove_some(released)
