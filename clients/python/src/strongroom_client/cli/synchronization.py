"""One-way synchronization of a local folder and one on the server, in either direction."""

import errno
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Final

import click

from ..api import files
from ..errors import ApiError, NotFoundError
from ..transfers import Report
from .comparison import (
    Entries,
    Entry,
    Plan,
    State,
    StateFile,
    local_entries,
    local_target,
    planned,
    remote_entries,
)
from .output import Output, additions
from .remote import Tree

_NAME_FIELDS: Final = ("name", "Upload-Metadata")
_NAME_ERRORS: Final = (errno.ENAMETOOLONG, errno.EILSEQ, errno.EINVAL)


class Synchronization(ABC):
    """The common steps of both directions.

    Args:
        output: prints each change.
        tree: the tenant.
        folder: the folder on the server; ``None`` is the top level.
        root: the local folder.
        state_file: the state of the last run.
    """

    def __init__(
        self, output: Output, tree: Tree, folder: str | None, root: Path, state_file: StateFile
    ) -> None:
        self._output = output
        self._tree = tree
        self._folder = folder
        self._root = root
        self._state_file = state_file
        self._skipped: list[str] = []

    def run(self, *, deletes: bool, is_full: bool) -> None:
        """Compare the folders, and change the target.

        Args:
            deletes: whether what the source does not have is deleted.
            is_full: whether the server's folders are listed although nothing seems to have changed.

        Raises:
            click.ClickException: entries were skipped, because the other side does not take their names.
        """
        state = self._state_file.load()
        try:
            self._synchronize(state, deletes=deletes, is_full=is_full)
        finally:
            # Also after an interruption: the cursor is older than the changes of this run.
            self._state_file.save(state)
        self._skipped += state.remote_skipped
        for path in self._skipped:
            self._output.note(f"skipped {click.format_filename(path)}")
        if self._skipped:
            raise click.ClickException(
                f"{len(self._skipped)} entries were skipped: the other side does not take their names."
            )

    def _synchronize(self, state: State, *, deletes: bool, is_full: bool) -> None:
        remote = remote_entries(self._tree, self._folder, state, is_full=is_full)
        source, target = self._sides(local_entries(self._local_root(), state, self._skipped), remote)
        plan = planned(source, target)
        if plan.blocked and not deletes:
            raise click.ClickException(
                f"{plan.blocked[0]} is a file on one side and a folder on the other; use --delete"
            )
        for path in self._deletions(plan) if deletes else ():
            self._delete(path, target.pop(path))
            self._report("deleted", path)
        for path in plan.folders:
            self._change("created", path, target, partial(self._make_folder, path, target))
        self._copy_all(plan.copies, source, target)

    def _copy_all(self, paths: Sequence[str], source: Entries, target: Entries) -> None:
        with self._output.progress("sync", sum(source[path].size for path in paths)) as add:
            for path in paths:
                copy = partial(self._copy, path, source[path], target, additions(add))
                self._change("copied", path, target, copy)

    def _change(self, action: str, path: str, target: Entries, change: Callable[[], Entry]) -> None:
        """Change an entry of the target, if that side takes its name and that of its folder."""
        parent = path.rpartition("/")[0]
        if parent and parent not in target:
            self._skipped.append(path)
            return
        try:
            target[path] = change()
        except (ApiError, OSError) as error:
            if not _is_about_a_name(error):
                raise
            self._skipped.append(path)
        else:
            self._report(action, path)

    @abstractmethod
    def _local_root(self) -> Path:
        """Return the local folder, which exists."""

    @abstractmethod
    def _sides(self, local: Entries, remote: Entries) -> tuple[Entries, Entries]:
        """Return the source and the target."""

    @abstractmethod
    def _deletions(self, plan: Plan) -> Sequence[str]:
        """Return the entries to delete, in order."""

    @abstractmethod
    def _delete(self, path: str, entry: Entry) -> None:
        """Delete an entry of the target."""

    @abstractmethod
    def _make_folder(self, path: str, target: Entries) -> Entry:
        """Create a folder in the target."""

    @abstractmethod
    def _copy(self, path: str, entry: Entry, target: Entries, report: Report) -> Entry:
        """Copy a file to the target."""

    def _report(self, action: str, path: str) -> None:
        self._output.result({"action": action, "path": path}, f"{action} {path}")


class Upwards(Synchronization):
    """From the local folder to the server."""

    def _local_root(self) -> Path:
        if not self._root.is_dir():
            raise click.UsageError(f"{self._root} is no folder.")
        return self._root

    def _sides(self, local: Entries, remote: Entries) -> tuple[Entries, Entries]:
        return local, remote

    def _deletions(self, plan: Plan) -> Sequence[str]:
        return plan.topmost_deletions

    def _delete(self, path: str, entry: Entry) -> None:
        try:
            self._tree.client.send(files.delete_file(self._tree.tenant_id, entry.id))
        except NotFoundError:
            self._output.note(f"{path} was already deleted")

    def _make_folder(self, path: str, target: Entries) -> Entry:
        node = self._tree.make_folder(self._parent(path, target), PurePosixPath(path).name)
        return Entry(0, None, node.id)

    def _copy(self, path: str, entry: Entry, target: Entries, report: Report) -> Entry:
        node = self._tree.client.upload(
            self._tree.tenant_id,
            self._root / entry.local,
            parent_id=self._parent(path, target),
            on_conflict="replace",
            progress=report,
        )
        return Entry(node.size, node.checksum, node.id)

    def _parent(self, path: str, target: Entries) -> str | None:
        parent = PurePosixPath(path).parent.as_posix()
        return self._folder if parent == "." else target[parent].id


class Downwards(Synchronization):
    """From the server to the local folder."""

    def _local_root(self) -> Path:
        self._root.mkdir(parents=True, exist_ok=True)
        return self._root

    def _sides(self, local: Entries, remote: Entries) -> tuple[Entries, Entries]:
        return remote, local

    def _deletions(self, plan: Plan) -> Sequence[str]:
        # One by one: entries that were not listed, such as links, must not be deleted with its folder.
        return plan.deletions

    def _delete(self, path: str, entry: Entry) -> None:  # noqa: ARG002
        target = local_target(self._root, entry.local)
        if entry.is_folder:
            target.rmdir()
        else:
            target.unlink()

    def _make_folder(self, path: str, target: Entries) -> Entry:
        local = self._local(path, target)
        local_target(self._root, local).mkdir()
        return Entry(0, None, local=local)

    def _copy(self, path: str, entry: Entry, target: Entries, report: Report) -> Entry:
        local = self._local(path, target)
        self._tree.client.download(
            self._tree.tenant_id, entry.id, local_target(self._root, local), progress=report
        )
        return Entry(entry.size, entry.checksum, local=local)

    def _local(self, path: str, target: Entries) -> str:
        """Return the real path of an entry; existing names keep their normalization form."""
        if path in target:
            return target[path].local
        parent, _, name = path.rpartition("/")
        return f"{target[parent].local}/{name}" if parent else name


def _is_about_a_name(error: ApiError | OSError) -> bool:
    if isinstance(error, OSError):
        return error.errno in _NAME_ERRORS
    return error.code == "error.validation-failed" and error.field in _NAME_FIELDS
