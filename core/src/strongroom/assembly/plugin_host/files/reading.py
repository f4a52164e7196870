"""The calls of ``host.files`` that read."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

from strongroom.assembly.plugin_host.caller import AsCaller, make_paging, result_page
from strongroom.assembly.plugin_host.files.content import storage_errors
from strongroom.assembly.plugin_host.files.records import file_info, file_of_json
from strongroom.content.files.attributes import AttributeService
from strongroom.content.files.grants import GrantService
from strongroom.content.files.listing import FileListing
from strongroom.content.files.node_paths import NodePaths
from strongroom.content.files.paths import PathLookup
from strongroom.content.files.schemas import SearchQuery
from strongroom.content.files.service import FileService
from strongroom.content.nodes import operations
from strongroom.content.nodes.events import DownloadRecorder
from strongroom.content.nodes.models import Node
from strongroom.content.nodes.node_cursors import node_paging
from strongroom.content.nodes.node_filters import NodeFilter, NodeOrder
from strongroom.content.nodes.node_selection import NodeSelection
from strongroom.content.storage.models import BlobLocation
from strongroom.content.tenants.models import Tenant
from strongroom.content.tenants.service import TenantService
from strongroom.extensions.search.service import FileSearch, NodeSearch
from strongroom.extensions.trash.service import TrashService
from strongroom.foundation.caller import Identity
from strongroom.foundation.database.keysets import Key
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.errors import NotAFile
from strongroom.plugin_api import files as api
from strongroom.plugin_api.paging import ResultPage
from strongroom.plugin_api.schemas import MAX_PAGE_SIZE
from strongroom.web.http.paging import paging as requested_paging
from strongroom.web.http.parsing import is_unstorable, parse_values


class FileReads(AsCaller, api.FilesAPI):
    """Lists, finds and opens files."""

    def spaces(self, *, page: int = 1, size: int = 100) -> ResultPage[api.FileSpace]:
        caller, paging = self._caller(operations.LIST), make_paging(page, size)
        return result_page(self._get(TenantService).of_caller(caller, paging)).map(_space)

    def find_spaces(self, identifier: str) -> Sequence[api.FileSpace]:
        caller = self._caller(operations.LIST)
        if is_unstorable(identifier):
            return []
        return [*map(_space, self._get(TenantService).find_of_caller(caller, identifier))]

    def list(
        self,
        tenant_id: str,
        parent_id: str | None,
        *,
        folders_first: bool = False,
        page: int = 1,
        size: int = 100,
        query: Mapping[str, Any] | None = None,
        with_attributes: bool = False,
    ) -> ResultPage[api.FileInfo]:
        selection = NodeSelection(order=NodeOrder(folders_first=folders_first))
        requested = make_paging(page, size) if query is None else requested_paging(query)
        paging = node_paging(requested, selection.order)
        caller = self._caller(operations.LIST, tenant_id, parent_id)
        listing = self._get(FileListing)
        if parent_id is None:
            listed = listing.top_level(caller, tenant_id, caller.user_id, paging, selection)
        else:
            listed = listing.inside(caller, tenant_id, caller.user_id, parent_id, paging, selection)
        files: Sequence[api.FileInfo] = [file_of_json(record) for record in listed.records]
        if with_attributes:
            files = self._with_attributes(files)
        return result_page(listed.page.with_items(files))

    def list_all(
        self, tenant_id: str, parent_id: str | None, *, with_attributes: bool = False
    ) -> Iterator[api.FileInfo]:
        caller, listing = self._caller(operations.LIST, tenant_id, parent_id), self._get(FileListing)
        selection, number = NodeSelection(), 1
        after: Key | None = ()
        while after is not None:
            paging = node_paging(Paging(number, MAX_PAGE_SIZE, after), selection.order)
            if parent_id is None:
                listed = listing.top_level(caller, tenant_id, caller.user_id, paging, selection)
            else:
                listed = listing.inside(caller, tenant_id, caller.user_id, parent_id, paging, selection)
            files: Sequence[api.FileInfo] = [file_of_json(record) for record in listed.records]
            yield from self._with_attributes(files) if with_attributes else files
            number, after = number + 1, listed.page.following

    def stat(
        self,
        tenant_id: str,
        file_id: str,
        *,
        with_path: bool = False,
        with_attributes: bool = False,
    ) -> api.FileInfo:
        caller = self._caller(operations.GET, tenant_id, file_id)
        if with_path:
            view, path = self._get(NodePaths).locate(caller, tenant_id, file_id)
            file = replace(file_info(view), path=path)
        else:
            file = file_info(self._get(FileService).get(caller, tenant_id, file_id))
        return self._with_attributes([file])[0] if with_attributes else file

    def search(
        self,
        tenant_id: str,
        text: str,
        *,
        parent_id: str | None = None,
        kind: Literal["file", "folder"] | None = None,
        sort: str = "name",
        page: int = 1,
        size: int = 100,
    ) -> ResultPage[api.FileInfo]:
        caller, paging = self._caller(operations.LIST, tenant_id, parent_id), make_paging(page, size)
        of_kind = {} if kind is None else {"type": kind}
        criteria = parse_values(SearchQuery, {"query": text, "sort": sort, **of_kind})
        request = NodeSearch(
            criteria["query"],
            parent_id,
            NodeFilter(type=criteria["type"]),
            NodeOrder.parse(criteria["sort"], folders_first=criteria["foldersFirst"]),
        )
        hits = self._get(FileSearch).search(caller, tenant_id, request, paging)
        return ResultPage([file_of_json(record) for record in hits.records], hits.total, page, size)

    def resolve(
        self,
        tenant_id: str,
        path: Sequence[str],
        *,
        start: str | None = None,
        with_attributes: bool = False,
    ) -> api.FileInfo:
        caller = self._caller(operations.GET, tenant_id, start)
        file = file_info(self._get(PathLookup).resolve(caller, tenant_id, path, start))
        return self._with_attributes([file])[0] if with_attributes else file

    def find_place(self, tenant_id: str, path: Sequence[str]) -> api.FilePlace:
        place = self._get(PathLookup).find_place(
            self._caller(operations.GET, tenant_id), tenant_id, path
        )
        file, parent = (view and file_info(view) for view in (place.node, place.folder))
        return api.FilePlace(file, parent)

    def _with_attributes(self, files: Sequence[api.FileInfo]) -> Sequence[api.FileInfo]:
        ids = [file.id for file in files]
        attributes = self._get(AttributeService).find(self._user.plugin, ids)
        return [replace(file, attributes=attributes.get(file.id, {})) for file in files]

    @contextmanager
    def open(
        self, tenant_id: str, file_id: str, start: int = 0, length: int | None = None
    ) -> Iterator[Iterator[bytes]]:
        caller = self._caller(operations.DOWNLOAD, tenant_id, file_id)
        node, location = self._get(FileService).locate(caller, tenant_id, file_id)
        if location is None:
            raise NotAFile
        with self._reading(caller, node, location, start, length) as chunks:
            yield chunks

    @contextmanager
    def _reading(
        self, caller: Identity, node: Node, location: BlobLocation, start: int, length: int | None
    ) -> Iterator[Iterator[bytes]]:
        """Open a range of the content of a node that the caller may read, and record the download."""
        size = max(0, node.size - start)
        length = size if length is None else min(length, size)
        with storage_errors(), self._get(FileService).open(node, start, length, location) as chunks:
            self._get(DownloadRecorder).record(caller, node)
            yield chunks

    def tenure(self, tenant_id: str, file_id: str) -> api.Tenure:
        caller = self._caller(operations.GRANT, tenant_id, file_id)
        return self._get(GrantService).tenure(caller, tenant_id, file_id)

    def restored_since(self, tenant_id: str, file_id: str, sequence: int) -> bool:
        caller = self._caller(operations.GET, tenant_id, file_id)
        return self._get(TrashService).restored_since(caller, tenant_id, file_id, sequence)


def _space(tenant: Tenant) -> api.FileSpace:
    return api.FileSpace(tenant.id, tenant.name, tenant.created_at)
