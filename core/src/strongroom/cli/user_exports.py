"""``strongroom users export``: exports users as the lines of an import."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import click

from strongroom.cli.age_files import Encryption
from strongroom.cli.context import CommandContext
from strongroom.foundation.caller import Origin

_ORIGIN: Final = Origin(user_agent="command line")
_FILE: Final = click.Path(path_type=Path, dir_okay=False)


@click.command("export")
@click.option("-o", "--output", type=_FILE, help="The file to create; standard output without it.")
@click.option(
    "--with-secrets",
    is_flag=True,
    help="Also export hashes of passwords and secrets of authenticator apps; needs encryption.",
)
@click.option(
    "--recipient",
    "recipients",
    metavar="age1...",
    multiple=True,
    help="Encrypt the file, so that the identity of this recipient reads it.",
)
@click.option(
    "--passphrase-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="Encrypt the file, by the first line of this one.",
)
@click.pass_obj
def export_users(
    context: CommandContext,
    output: Path | None,
    recipients: tuple[str, ...],
    passphrase_file: Path | None,
    *,
    with_secrets: bool,
) -> None:
    """Export users as JSON lines, which `users import` reads.

    Administrators and service accounts are not exported. The audit log records the export.
    """
    from strongroom.extensions.user_imports.user_export_files import UserExports

    if recipients and passphrase_file:
        raise click.UsageError("give either --recipient or --passphrase-file")
    is_encrypted = bool(recipients or passphrase_file)
    if with_secrets and not is_encrypted:
        raise click.UsageError("--with-secrets needs --recipient or --passphrase-file")
    encryption = Encryption(recipients, passphrase_file) if is_encrypted else None
    with context.container() as container, _created(output) as file:
        pieces = container.get(UserExports).create(None, _ORIGIN, with_secrets=with_secrets)
        if encryption is not None:
            encryption.write(pieces, file)
        else:
            file.writelines(pieces)


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
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        path.unlink()
        raise
