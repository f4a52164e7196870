"""The calls of ``host.files`` that change a file without new content."""

from collections.abc import Mapping

from strongroom.assembly.plugin_host.files.deletion import Replacing
from strongroom.assembly.plugin_host.files.records import conflict_rule, file_info
from strongroom.content.files.attributes import AttributeService
from strongroom.content.files.copying import Copy, CopyingService
from strongroom.content.files.moving import Move, MovingService
from strongroom.content.files.service import FileService
from strongroom.content.nodes import operations
from strongroom.content.nodes.services import NodeServices
from strongroom.plugin_api import files as api
from strongroom.plugin_api.changes import UNCHANGED, Unchanged


class FileChanges(Replacing, api.FilesAPI):
    """Moves, renames, copies and deletes files."""

    def move(
        self,
        tenant_id: str,
        file_id: str,
        parent_id: str | Unchanged | None = UNCHANGED,
        name: str | None = None,
        *,
        on_conflict: api.OnConflict = "fail",
        revision: int | None = None,
        replaces: api.FileInfo | None = None,
    ) -> api.FileInfo:
        moving, rule = self._get(MovingService), conflict_rule(on_conflict)
        if isinstance(parent_id, Unchanged):
            caller = self._caller(operations.RENAME, tenant_id, file_id)
            with self._deleting_first(tenant_id, replaces) as prepare:
                return file_info(
                    moving.rename(caller, tenant_id, file_id, name or "", revision, rule, prepare)
                )
        # As the route: the service requires more where the parent changes.
        caller = self._caller(operations.RENAME, tenant_id, file_id, parent_id)
        request = Move(parent_id, name, rule)
        with self._deleting_first(tenant_id, replaces) as prepare:
            return file_info(moving.move(caller, tenant_id, file_id, request, revision, prepare))

    def copy(
        self,
        tenant_id: str,
        file_id: str,
        parent_id: str | None,
        name: str | None = None,
        *,
        on_conflict: api.OnConflict = "fail",
        replaces: api.FileInfo | None = None,
    ) -> api.FileInfo:
        request = Copy(parent_id, name, conflict_rule(on_conflict))
        caller = self._caller(operations.COPY, tenant_id, file_id, parent_id)
        with self._deleting_first(tenant_id, replaces) as prepare:
            copying = self._get(CopyingService)
            return file_info(copying.copy(caller, tenant_id, file_id, request, prepare))

    def change_attributes(self, tenant_id: str, file_id: str, changes: Mapping[str, str | None]) -> None:
        caller = self._caller(operations.SET_ATTRIBUTES, tenant_id, file_id)
        attributes, plugin = self._get(AttributeService), self._user.plugin
        attributes.change(caller, tenant_id, file_id, plugin, changes)

    @property
    def has_trash(self) -> bool:
        return self._user.services().group(NodeServices).removal.keeps_deleted

    def delete(self, tenant_id: str, file_id: str, *, revision: int | None = None) -> None:
        files = self._get(FileService)
        files.delete(self._caller(operations.DELETE, tenant_id, file_id), tenant_id, file_id, revision)
