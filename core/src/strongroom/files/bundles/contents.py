"""Collects the content of a bundle into its manifest, within the caller's transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, FromClause, Select, bindparam, select

from strongroom.database.statements import Statement
from strongroom.errors import Forbidden, NotFound
from strongroom.files.access import AccessControl
from strongroom.files.bundles.manifest import BundleManifest, Item
from strongroom.files.bundles.names import UniqueNames
from strongroom.files.bundles.zip_format import Entry
from strongroom.files.models import NodeType, Permission, nodes
from strongroom.identity import AnyCaller
from strongroom.storage.service import BlobService

_ROWS_AT_ONCE: Final = 2000
_FOLDERS_AT_ONCE: Final = 100

Folder = tuple[str, bytes]
"""The id of a folder, and its path in the archive."""


@dataclass(frozen=True, slots=True)
class Selected:
    """A file or folder that was requested for a bundle by its id."""

    id: str
    tenant_id: str
    parent_id: str
    name: str
    size: int


class Contents:
    """Finds the requested files and the content of the requested folders."""

    def __init__(self, access: AccessControl, blobs: BlobService) -> None:
        self._access = access
        facts: FromClause = blobs.facts()
        rows: Select[Any] = select(
            nodes.c.id,
            nodes.c.parent_id,
            nodes.c.name,
            nodes.c.type,
            nodes.c.size,
            nodes.c.updated_at,
            nodes.c.blob_key,
            facts.c.crc32,
        ).outerjoin(facts, facts.c.key == nodes.c.blob_key)
        self._by_ids = Statement(rows.where(nodes.c.id.in_(bindparam("node_ids", expanding=True))))
        self._by_folders = Statement(
            rows.where(nodes.c.parent_id.in_(bindparam("folder_ids", expanding=True))).order_by(
                nodes.c.parent_id, nodes.c.name
            )
        )

    def write(
        self,
        connection: Connection,
        caller: AnyCaller,
        tenant_id: str,
        file_ids: Sequence[str],
        manifest: BundleManifest,
    ) -> list[Selected]:
        """Add files and whole folders to the manifest, and return the requested nodes.

        Only requested nodes are checked, because read permission on a folder includes its content.

        Raises:
            Forbidden: the caller is not a member of the tenant, or may not read one of the nodes.
            NotFound: the tenant has no such node.
            PayloadTooLarge: a path is too long for an archive.
        """
        rows = self._readable(connection, caller, tenant_id, file_ids)
        folders = _add(manifest, rows, b"")
        # Breadth-first, several folders per query; memory grows with the open folders, not the files.
        while folders:
            taken, folders = folders[:_FOLDERS_AT_ONCE], folders[_FOLDERS_AT_ONCE:]
            folders += self._write_folders(connection, manifest, dict(taken))
        return [Selected(row.id, tenant_id, row.parent_id, row.name, row.size) for row in rows]

    def _readable(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, file_ids: Sequence[str]
    ) -> list[Any]:
        # Removes duplicates and keeps the order.
        wanted = list(dict.fromkeys(file_ids))
        for file_id in wanted:
            self._require_readable(connection, caller, tenant_id, file_id)
        found = {row.id: row for row in self._by_ids.all(connection, {"node_ids": wanted})}
        if missing := [file_id for file_id in wanted if file_id not in found]:
            # Deleted since the check, on PostgreSQL.
            raise _not_found(missing[0])
        return [found[file_id] for file_id in wanted]

    def _require_readable(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, file_id: str
    ) -> None:
        access = self._access.find(connection, caller, tenant_id, file_id)
        access.require_member()
        try:
            access.require(Permission.READ)
        except NotFound as error:
            raise _not_found(file_id) from error
        except Forbidden as error:
            message = f"You may not read {file_id}."
            raise Forbidden.of_field("fileIds", "forbidden", message) from error

    def require_member(self, connection: Connection, tenant_id: str, caller: AnyCaller) -> None:
        """Check that the caller is a member of the tenant.

        Raises:
            Forbidden: the caller is not a member, whether or not the tenant exists.
        """
        self._access.find(connection, caller, tenant_id, None).require_member()

    def _write_folders(
        self, connection: Connection, manifest: BundleManifest, paths: dict[str, bytes]
    ) -> list[Folder]:
        wanted = {"folder_ids": list(paths)}
        rows = self._by_folders.stream(connection, wanted, batch=_ROWS_AT_ONCE)
        folders: list[Folder] = []
        for parent_id, children in groupby(rows, itemgetter(1)):
            folders += _add(manifest, children, paths[parent_id])
        return folders


def _not_found(file_id: str) -> NotFound:
    return NotFound.of_field("fileIds", "not-found", f"{file_id} does not exist.")


def _add(manifest: BundleManifest, rows: Iterable[Sequence[Any]], path: bytes) -> list[Folder]:
    """Add the content of one folder to the manifest, and return its subfolders."""
    names = UniqueNames()
    folders: list[Folder] = []
    # Unpacking is faster than attribute access, and there may be very many rows.
    for node_id, _parent_id, name, kind, size, updated_at, key, crc32 in rows:
        own_path = path + names.add(name).encode()
        if kind == NodeType.FOLDER:
            own_path += b"/"
            folders.append((node_id, own_path))
        entry = Entry(own_path, size, crc32 or 0, updated_at // 1000)
        manifest.add(Item(entry, key or ""))
    return folders
