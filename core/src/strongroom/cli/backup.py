"""``strongroom backup``: everything in one archive, and back."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.schema import open_database
from strongroom.clock import SystemClock
from strongroom.config import Configuration
from strongroom.plugin_api.storage import LocalPaths, StorageBackend
from strongroom.selection import select

if TYPE_CHECKING:
    from strongroom.backup.archive import Manifest

_AFTER_RESTORE: Final = (
    "storage {name}: its files were not in the archive. For a drill, name a copy of the store in "
    "[storages.{name}]. If this database replaces one that is gone for good, take the store over: "
    "strongroom storage claim {name}"
)

ARCHIVE = click.Path(path_type=Path, dir_okay=False)


@click.group("backup")
def backup_group() -> None:
    """Keep the database, the local files and the keys in one archive."""


@backup_group.command("create")
@config_option
@click.argument("file", type=ARCHIVE)
@click.option("--json", "as_json", is_flag=True, help="Print what the archive holds as JSON.")
@click.pass_obj
def create_command(context: CommandContext, file: Path, *, as_json: bool) -> None:
    """Write an archive, safe beside running servers.

    It holds the secret and the signing keys: who reads it can do anything. Bytes in storages that are
    not on this machine are only counted. Exits with 1 if bytes are missing or damaged; the archive
    holds all others.
    """
    from strongroom.backup.errors import BackupError

    with context.container() as container:
        try:
            manifest = container.operating.backups.create(file)
        except BackupError as error:
            raise click.ClickException(str(error)) from error
    _show(manifest, as_json=as_json)
    if manifest.faults:
        raise click.ClickException(f"{len(manifest.faults)} blobs are missing or damaged")


@backup_group.command("restore")
@config_option
@click.argument("file", type=ARCHIVE)
@click.option(
    "--keep-sessions",
    is_flag=True,
    help="Leave logins alive; those that were ended after the backup come alive again, too.",
)
@click.option("--json", "as_json", is_flag=True, help="Print what the archive held as JSON.")
@click.pass_obj
def restore_command(context: CommandContext, file: Path, *, keep_sessions: bool, as_json: bool) -> None:
    """Restore an archive into an empty database and empty folders, on any kind of database.

    It is checked as a whole before anything is written. Everybody has to log in again.
    """
    from strongroom.backup.errors import BackupError
    from strongroom.backup.restore import restore

    configuration = context.configuration
    with ExitStack() as resources:
        database = open_database(configuration)
        resources.callback(database.close)
        storages = resources.enter_context(_local_storages(configuration))
        try:
            manifest = restore(
                file,
                configuration.settings,
                database,
                storages,
                SystemClock(),
                keep_sessions=keep_sessions,
            )
        except BackupError as error:
            raise click.ClickException(str(error)) from error
    _show(manifest, as_json=as_json)
    for name, summary in manifest.storages.items():
        if not summary.included and not as_json:
            click.echo(_AFTER_RESTORE.format(name=name), err=True)


@contextmanager
def _local_storages(configuration: Configuration) -> Iterator[dict[str, StorageBackend[Any]]]:
    storages = {
        name: choice.make()
        for name, choice in select(configuration).storages.items()
        if issubclass(choice.extension, LocalPaths)
    }
    try:
        yield storages
    finally:
        for storage in storages.values():
            storage.close()


def _show(manifest: "Manifest", *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(asdict(manifest), ensure_ascii=False))
        return
    click.echo(f"{sum(manifest.tables.values())} rows of {len(manifest.tables)} tables")
    for name, summary in manifest.storages.items():
        held = "included" if summary.included else "NOT included: back that store up by itself"
        click.echo(f"storage {name}: {summary.blobs} blobs, {summary.bytes} bytes, {held}")
    for name, fault in manifest.faults.items():
        click.echo(f"{name} is {fault}", err=True)
