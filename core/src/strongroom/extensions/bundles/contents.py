"""Collects the content of a bundle into its manifest, with names that are safe on any system."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, Final

from sqlalchemy import Connection, FromClause, Select, bindparam, select

from strongroom.content.nodes import operations
from strongroom.content.nodes.access import AccessControl
from strongroom.content.nodes.models import NodeType, nodes
from strongroom.content.scanning.states import require_readable
from strongroom.content.storage.service import BlobService
from strongroom.extensions.bundles.manifest import BundleManifest, Item
from strongroom.extensions.bundles.zip_format import Entry
from strongroom.foundation.caller import AnyCaller
from strongroom.foundation.database.statements import Statement
from strongroom.foundation.errors import Forbidden, NotFound, Quarantined
from strongroom.foundation.text_direction import without_direction

MAX_COMPONENT_BYTES: Final = 255
"""Maximum length of a file name on common file systems, in bytes of UTF-8."""

# Windows reserves device names with any extension; it treats superscript digits as digits.
_DEVICE = re.compile(r"(?i:CON|PRN|AUX|NUL|(?:COM|LPT)[0-9\u00b9\u00b2\u00b3]) *(?:\.|$)")
_SAFE = re.compile(rf"(?!{_DEVICE.pattern})[\w()\[\]{{}} ,;=+@#$%&'!.-]{{0,60}}[\w)\]}}-]")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f"*/:<>?\\|]')


def safe_name(name: str) -> str:
    """Return the name with characters replaced that Windows or a shell would misinterpret.

    These are separators, drive letters and streams, wildcards, device names, trailing dots and spaces,
    which Windows drops, and bidirectional control characters, which can disguise the extension.
    """
    # Most names match this pattern and need no further work.
    if _SAFE.fullmatch(name):
        return name
    cleaned = _FORBIDDEN.sub("_", without_direction(name))
    trimmed = cleaned.rstrip(". ")
    cleaned = trimmed + "_" * (len(cleaned) - len(trimmed))
    return _fitted(*_split(f"_{cleaned}" if _DEVICE.match(cleaned) else cleaned))


def _split(name: str) -> tuple[str, str]:
    """Return the stem of a name, and its extension with the dot."""
    stem, dot, extension = name.rpartition(".")
    if not stem or len(extension.encode()) > MAX_COMPONENT_BYTES // 4:
        return name, ""
    return stem, dot + extension


def _fitted(stem: str, ending: str) -> str:
    """Return stem and ending joined, the stem truncated to fit ``MAX_COMPONENT_BYTES``."""
    room = MAX_COMPONENT_BYTES - len(ending.encode())
    encoded = stem.encode()
    if len(encoded) > room:
        stem = encoded[:room].decode(errors="ignore").rstrip(". ")
    return stem + ending


class UniqueNames:
    """Assigns names in one folder that differ even without regard to case and Unicode normalization."""

    def __init__(self) -> None:
        # Hashes instead of names save memory in very large folders; a collision only adds a number.
        self._taken: set[int] = set()
        self._last: dict[int, int] = {}

    def add(self, name: str) -> str:
        """Return a safe name for an entry, with a number if it is taken."""
        candidate = safe_name(name)
        key = _key(candidate)
        if key in self._taken:
            candidate, key = self._numbered(candidate)
        self._taken.add(key)
        return candidate

    def _numbered(self, name: str) -> tuple[str, int]:
        """Return the first free name with a number, and its key.

        The last used number is stored per truncated stem, because names that differ only after the
        truncation share their numbers. More digits truncate more, so each number of digits has its own
        entry. This keeps many equal names from being searched in quadratic time.
        """
        stem, extension = _split(name)
        digits = 0
        while True:
            first = 10**digits
            digits += 1
            shape = _key(_fitted(stem, f" ({first}){extension}"))
            for number in range(self._last.get(shape, first - 1) + 1, 10 * first):
                self._last[shape] = number
                candidate = _fitted(stem, f" ({number}){extension}")
                if (key := _key(candidate)) not in self._taken:
                    return candidate, key


def _key(name: str) -> int:
    return hash(name.lower() if name.isascii() else unicodedata.normalize("NFC", name.casefold()))


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
            nodes.c.scan,
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

        Permissions are checked for requested nodes only, because read permission on a folder includes
        its content. Files of a folder that are in quarantine are left out.

        Raises:
            NotScannedYet: a requested file, or a file of a requested folder, is not scanned yet.
            Quarantined: a requested file is in quarantine.
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
        unique_ids = list(dict.fromkeys(file_ids))
        for file_id in unique_ids:
            self._require_readable(connection, caller, tenant_id, file_id)
        nodes = {row.id: row for row in self._by_ids.all(connection, {"node_ids": unique_ids})}
        if missing := [file_id for file_id in unique_ids if file_id not in nodes]:
            # Deleted since the check, on PostgreSQL.
            raise _not_found(missing[0])
        for row in nodes.values():
            require_readable(row.scan)
        return [nodes[file_id] for file_id in unique_ids]

    def _require_readable(
        self, connection: Connection, caller: AnyCaller, tenant_id: str, file_id: str
    ) -> None:
        access = self._access.find(connection, caller, tenant_id, file_id)
        access.require_member()
        try:
            access.require(operations.DOWNLOAD_BUNDLE)
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
        parameters = {"folder_ids": list(paths)}
        rows = self._by_folders.stream(connection, parameters, batch=_ROWS_AT_ONCE)
        folders: list[Folder] = []
        for parent_id, children in groupby(rows, itemgetter(1)):
            folders += _add(manifest, children, paths[parent_id])
        return folders


def _not_found(file_id: str) -> NotFound:
    return NotFound.of_field("fileIds", "not-found", f"{file_id} does not exist.")


def _is_included(scan: str) -> bool:
    """Return whether a folder's file belongs in the bundle; files in quarantine do not."""
    try:
        require_readable(scan)
    except Quarantined:
        return False
    return True


def _add(manifest: BundleManifest, rows: Iterable[Sequence[Any]], path: bytes) -> list[Folder]:
    """Add the content of one folder to the manifest, and return its subfolders."""
    names = UniqueNames()
    folders: list[Folder] = []
    # Unpacking is faster than attribute access, and there may be very many rows.
    for node_id, _parent_id, name, kind, size, updated_at, key, crc32, scan in rows:
        if scan is not None and not _is_included(scan):
            continue
        own_path = path + names.add(name).encode()
        if kind == NodeType.FOLDER:
            own_path += b"/"
            folders.append((node_id, own_path))
        entry = Entry(own_path, size, crc32 or 0, updated_at // 1000)
        manifest.add(Item(entry, key or ""))
    return folders
