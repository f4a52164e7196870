"""The command ``strongroom-client users export``, of administrators."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

import click
import msgspec

from .context import Context, stepped_up


@click.command("export")
@click.argument("path", required=False, type=click.Path(dir_okay=False, path_type=Path))
@click.pass_obj
def export_users(context: Context, path: Path | None) -> None:
    """Export users as JSON lines, which `import` reads, to a new file or to stdout.

    The lines have no secrets. Administrators and service accounts are not exported.
    """
    with context.login.client() as client, _created(path) as output:

        def started() -> Iterator[dict[str, Any]]:
            exported = client.users.export()
            # The first line, because the server demands a second factor before it.
            return chain(list(islice(exported, 1)), exported)

        for user in stepped_up(client, started):
            output.write(msgspec.json.encode(user) + b"\n")


@contextmanager
def _created(path: Path | None) -> Iterator[BinaryIO]:
    """Create a file that only its owner reads, and remove it again if the export fails."""
    if path is None:
        yield sys.stdout.buffer
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from error
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
    except BaseException:
        path.unlink()
        raise
