"""Uploads of files, and of folders with their content."""

from collections.abc import Iterator
from pathlib import Path

import click

from ..models import Node
from ..transfers import OnConflict
from .comparison import is_utf8
from .output import Output, additions
from .remote import Tree


class Uploads:
    """Uploads into the folders of a tenant.

    Args:
        output: shows the progress.
        tree: the files of the tenant.
        on_conflict: what happens if the name of a file is taken.
    """

    def __init__(self, output: Output, tree: Tree, on_conflict: OnConflict) -> None:
        self._output = output
        self._tree = tree
        self._on_conflict = on_conflict

    def upload(self, path: Path, parent: str | None) -> Iterator[Node]:
        """Upload a file, or a folder with its content; yield the new files."""
        # "." has no name of its own.
        name = path.name or path.resolve().name
        if not is_utf8(name):
            raise click.UsageError(f"The name of {click.format_filename(path)} is not UTF-8.")
        if path.is_dir():
            folder = self._tree.folder_in(parent, name)
            for inner in sorted(path.iterdir()):
                if not inner.is_symlink():
                    yield from self.upload(inner, folder.id)
        else:
            yield self._send(path, parent)

    def _send(self, path: Path, parent: str | None) -> Node:
        with self._output.progress(path.name, path.stat().st_size) as add:
            return self._tree.client.upload(
                self._tree.tenant_id,
                path,
                parent_id=parent,
                on_conflict=self._on_conflict,
                progress=additions(add),
            )
