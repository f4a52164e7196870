"""Compares a local folder with one on the server: by checksums, which are kept between runs.

Names on the server are in Unicode normalization form C. Local ones may be in another form, which macOS
prefers, so the paths of entries are in form C, and local entries also have their real path.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

import click
import msgspec

from ..api import changes
from ..errors import ApiError
from ..files import checksum, write_durably
from .remote import Tree, normalized

_UNREADABLE: Final = frozenset({"pending", "infected", "rejected"})
_EXPIRED: Final = "error.cursor-expired"


class Entry(msgspec.Struct, frozen=True):
    """A file or folder below a synchronized folder; a folder has no checksum."""

    size: int
    checksum: str | None
    id: str = ""
    local: str = ""
    """The real relative path of a local entry."""

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder."""
        return self.checksum is None

    def is_same(self, other: "Entry | None") -> bool:
        """Return whether both have the same content."""
        return other is not None and self.checksum == other.checksum


Entries = dict[str, Entry]
"""Entries by their relative path with slashes, in normalization form C."""


class Hashed(msgspec.Struct, frozen=True):
    """The checksum of a local file at a size and a time."""

    size: int
    modified_ns: int
    checksum: str


class State(msgspec.Struct):
    """The result of the last run: the remote entries at a cursor, and local checksums."""

    cursor: int | None = None
    remote: Entries = {}
    remote_skipped: list[str] = []
    local: dict[str, Hashed] = {}


@dataclass(frozen=True, slots=True)
class Plan:
    """What makes the target equal to the source."""

    folders: list[str]
    copies: list[str]
    deletions: list[str]
    """Children before their parents."""

    blocked: list[str]
    """Paths where one side has a file and the other one a folder."""

    @property
    def topmost_deletions(self) -> list[str]:
        """The deletions without those inside of a deleted folder."""
        deleted = frozenset(self.deletions)
        return [path for path in self.deletions if deleted.isdisjoint(_ancestors(path))]


def planned(source: Mapping[str, Entry], target: Mapping[str, Entry]) -> Plan:
    """Compare two folders."""
    both = source.keys() & target.keys()
    blocked = sorted(path for path in both if source[path].is_folder != target[path].is_folder)
    changed = [path for path in source if not source[path].is_same(target.get(path))]
    return Plan(
        folders=sorted(path for path in changed if source[path].is_folder),
        copies=sorted(path for path in changed if not source[path].is_folder),
        deletions=sorted({*(target.keys() - source.keys()), *blocked}, reverse=True),
        blocked=blocked,
    )


class StateFile:
    """The state of the synchronization of one pair of folders.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> State:
        """Return the state; an empty one, if there is none or another version has written it."""
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=State)
        except (FileNotFoundError, msgspec.DecodeError):
            return State()

    def save(self, state: State) -> None:
        """Replace the state."""
        write_durably(self._path, msgspec.json.encode(state))


def remote_entries(tree: Tree, folder: str | None, state: State, *, is_full: bool) -> Entries:
    """Return the remote entries below a folder, from the state if nothing has changed since.

    The cursor is read before the folders are listed, so the next run sees a change during the listing.
    Changed permissions are no changes of files; ``is_full`` lists the folders in any case.
    """
    if is_full or _has_changed(tree, state.cursor):
        # An interrupted listing must not be taken for a complete one.
        state.cursor = None
        cursor = _cursor(tree)
        state.remote_skipped = []
        state.remote = dict(_listed(tree, folder, "", state.remote_skipped))
        state.cursor = cursor
    return state.remote


def local_entries(root: Path, state: State, skipped: list[str]) -> Entries:
    """Return the local entries below a folder. Links and special files are left out.

    Args:
        root: the folder.
        state: the state of the last run.
        skipped: gets the files whose name is not UTF-8, or equals another one in normalization form C.
    """
    entries: Entries = {}
    hashed: dict[str, Hashed] = {}
    for path in _walked(root):
        local = path.relative_to(root).as_posix()
        name = normalized(local)
        if path.is_dir():
            entries.setdefault(name, Entry(0, None, local=local))
        elif name in entries or not is_utf8(local):
            skipped.append(local)
        else:
            hashed[local] = _hashed(path, state.local.get(local))
            entries[name] = Entry(hashed[local].size, hashed[local].checksum, local=local)
    state.local = hashed
    return entries


def is_utf8(path: str) -> bool:
    """Return whether a local path can be sent; Linux permits any bytes."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def local_target(root: Path, name: str) -> Path:
    """Return the local path of a remote entry, which must be below the folder.

    Raises:
        click.ClickException: a link leads out of the folder.
    """
    path = root / name
    if not path.parent.resolve().is_relative_to(root.resolve()):
        raise click.ClickException(f"{path} leads out of {root}")
    return path


def _ancestors(path: str) -> list[str]:
    return [each.as_posix() for each in PurePosixPath(path).parents]


def _walked(folder: Path) -> Iterator[Path]:
    with os.scandir(folder) as found:
        items = sorted(found, key=lambda item: item.name)
    for item in items:
        # Unfinished downloads are no content.
        if item.is_symlink() or (item.name.startswith(".") and item.name.endswith(".part")):
            continue
        if item.is_dir() or item.is_file():
            yield Path(item.path)
        if item.is_dir():
            yield from _walked(Path(item.path))


def _hashed(path: Path, known: Hashed | None) -> Hashed:
    status = path.stat()
    if known is not None and (known.size, known.modified_ns) == (status.st_size, status.st_mtime_ns):
        return known
    return Hashed(status.st_size, status.st_mtime_ns, checksum(path))


def _has_changed(tree: Tree, cursor: int | None) -> bool:
    if cursor is None:
        return True
    try:
        page = tree.client.send(changes.list_changes(tree.tenant_id, cursor=cursor, page_size=1))
    except ApiError as error:
        if error.code != _EXPIRED:
            raise
        return True
    return bool(page.data) or page.meta.has_more


def _cursor(tree: Tree) -> int:
    return tree.client.send(changes.list_changes(tree.tenant_id)).meta.cursor


def _listed(
    tree: Tree, folder: str | None, prefix: str, skipped: list[str]
) -> Iterator[tuple[str, Entry]]:
    for node in tree.children(folder):
        name = prefix + node.name
        if not _is_safe(node.name):
            skipped.append(name)
        elif node.type_ == "folder":
            yield name, Entry(0, None, node.id)
            yield from _listed(tree, node.id, f"{name}/", skipped)
        elif node.scan not in _UNREADABLE:
            yield name, Entry(node.size, node.checksum, node.id)


def _is_safe(name: str) -> bool:
    """Return whether a name is a local one; a server could abuse it to write outside of the folder."""
    separators = {"/", "\0", os.sep, os.altsep or os.sep}
    return name not in ("", ".", "..") and separators.isdisjoint(name)
