"""The calls of ``host.files`` that store content, and that create folders."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager

from sqlalchemy import Connection

from strongroom.assembly.plugin_host.files.content import (
    PluginContent,
    plugin_content,
    storage_errors,
)
from strongroom.assembly.plugin_host.files.deletion import Replacing
from strongroom.assembly.plugin_host.files.records import conflict_rule, file_info
from strongroom.assembly.plugin_host.files.sinks import open_sink
from strongroom.content.files.replacing import ReplacingService
from strongroom.content.files.service import FileService
from strongroom.content.nodes import operations
from strongroom.content.nodes.attributes import change_attributes
from strongroom.content.nodes.file_writer import Attach, attach_nothing
from strongroom.content.nodes.models import Node
from strongroom.content.nodes.names import chosen_name, normalize_name, parse_path
from strongroom.content.storage.streams import MeteredSource
from strongroom.plugin_api import files as api
from strongroom.plugin_api.storage import ByteSource
from strongroom.web.http.uploads import receive_upload


class FileWrites(Replacing, api.FilesAPI):
    """Stores content."""

    def receive(
        self,
        tenant_id: str,
        parent_id: str | None,
        *,
        name: Callable[[str], str] = str,
        on_conflict: api.OnConflict = "fail",
        max_bytes: int | None = None,
        relative_path: str | None = None,
        folders: Sequence[str] = (),
    ) -> api.FileInfo:
        below, last = parse_path(relative_path) if relative_path else ((), None)
        path = (*map(normalize_name, folders), *below)
        files, caller = self._get(FileService), self._caller(operations.CREATE, tenant_id, parent_id)
        # A plugin may lower the limit of the server, never raise it.
        most = files.max_file_bytes if max_bytes is None else min(max_bytes, files.max_file_bytes)
        incoming = receive_upload(most, default_name=last)
        incoming.name = name(chosen_name(below, last, incoming.name))
        incoming.source = MeteredSource(incoming.source, most)
        with storage_errors():
            rule = conflict_rule(on_conflict)
            return file_info(files.upload(caller, tenant_id, parent_id, incoming, rule, path))

    def upload(
        self,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        source: ByteSource,
        *,
        size: int | None = None,
        on_conflict: api.OnConflict = "fail",
        checksum: str | None = None,
        attributes: api.AttributesOfContent | None = None,
    ) -> api.FileInfo:
        files = self._get(FileService)
        incoming, rule = plugin_content(name, source, size, checksum), conflict_rule(on_conflict)
        caller = self._caller(operations.CREATE, tenant_id, parent_id)
        with storage_errors():
            attach = self._attach(attributes)
            return file_info(files.upload(caller, tenant_id, parent_id, incoming, rule, attach=attach))

    def writing(
        self,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        *,
        size: int | None = None,
        on_conflict: api.OnConflict = "fail",
        checksum: str | None = None,
    ) -> AbstractContextManager[api.FileSink]:
        files, rule = self._get(FileService), conflict_rule(on_conflict)
        caller = self._caller(operations.CREATE, tenant_id, parent_id)

        def store(content: PluginContent) -> api.FileInfo:
            with storage_errors():
                return file_info(files.upload(caller, tenant_id, parent_id, content, rule))

        return open_sink(name, size, checksum, store)

    def replace(
        self,
        tenant_id: str,
        file_id: str,
        source: ByteSource,
        *,
        size: int | None = None,
        checksum: str | None = None,
        revision: int | None = None,
        attributes: api.AttributesOfContent | None = None,
    ) -> api.FileInfo:
        replacing = self._get(ReplacingService)
        # The file keeps its name.
        incoming = plugin_content("", source, size, checksum)
        caller = self._caller(operations.REPLACE, tenant_id, file_id)
        with storage_errors():
            attach = self._attach(attributes)
            return file_info(
                replacing.replace_content(caller, tenant_id, file_id, incoming, revision, attach)
            )

    def _attach(self, attributes: api.AttributesOfContent | None) -> Attach:
        """Return what stores attributes of the plugin, together with the content."""
        if attributes is None:
            return attach_nothing
        plugin = self._user.plugin

        def attach(connection: Connection, node: Node) -> None:
            change_attributes(connection, plugin, node.id, attributes(node.checksum or ""))

        return attach

    def create_folder(
        self,
        tenant_id: str,
        parent_id: str | None,
        name: str,
        *,
        on_conflict: api.OnConflict = "fail",
        replaces: api.FileInfo | None = None,
    ) -> api.FileInfo:
        files, rule = self._get(FileService), conflict_rule(on_conflict)
        caller = self._caller(operations.CREATE, tenant_id, parent_id)
        with self._deleting_first(tenant_id, replaces) as prepare:
            return file_info(files.create_folder(caller, tenant_id, parent_id, name, rule, prepare))
