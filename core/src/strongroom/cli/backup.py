"""``strongroom backup``: creates and restores backup archives."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.database_checks import open_database
from strongroom.cli.output import echo, echo_json
from strongroom.cli.progress import progress_bar
from strongroom.clock import SystemClock
from strongroom.foundation.config import Configuration
from strongroom.foundation.plugins.selection import load_plugins, select
from strongroom.plugin_api.storage import LocalPaths, StorageBackend

if TYPE_CHECKING:
    from strongroom.extensions.backup.archive import Manifest

_AFTER_RESTORE: Final = (
    "storage {name}: its files were not in the archive. For a drill, configure a copy of the store in "
    "[storages.{name}]. If this database permanently replaces the old one, take the store over: "
    "strongroom rescue claim-storage {name}"
)

ARCHIVE = click.Path(path_type=Path, dir_okay=False)
EXISTING = click.Path(path_type=Path, dir_okay=False, exists=True)

_base_option = click.option(
    "--base",
    "bases",
    metavar="BASE",
    type=EXISTING,
    multiple=True,
    help="An archive that FILE continues, if it is not next to FILE; may be repeated.",
)


@click.group("backup")
def backup_group() -> None:
    """Back up the database, the local files and the keys to one archive, and restore it."""


@backup_group.command("create")
@config_option
@click.argument("file", type=ARCHIVE)
@click.option(
    "--since",
    metavar="BASE",
    type=EXISTING,
    help="Write only the changes since the archive BASE, complete or incremental itself.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the archive's manifest as JSON.")
@click.pass_obj
def create_command(context: CommandContext, file: Path, *, since: Path | None, as_json: bool) -> None:
    """Write a backup archive; safe while servers run.

    Protect the archive, because it contains the secret key and the signing keys. Files in remote
    storages are only counted, not included. Exits with 1 if files are missing or damaged; the archive
    contains all others.
    """
    from strongroom.assembly.commands import assemble_backups
    from strongroom.extensions.backup.archive import BackupError

    with context.container() as container:
        try:
            service = assemble_backups(container)
            count = service.count() if since is None else None
            with progress_bar("Copying files", count, hidden=as_json) as progress:
                manifest = service.create(file, progress, since)
        except BackupError as error:
            raise click.ClickException(str(error)) from error
    _show(manifest, as_json=as_json)
    if manifest.faults:
        raise click.ClickException(f"{len(manifest.faults)} blobs are missing or damaged")


@backup_group.command("restore")
@config_option
@click.argument("file", type=ARCHIVE)
@_base_option
@click.option(
    "--keep-sessions",
    is_flag=True,
    help="Keep logins valid, including those that were ended after the backup.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the archive's manifest as JSON.")
@click.pass_obj
def restore_command(
    context: CommandContext, file: Path, *, bases: tuple[Path, ...], keep_sessions: bool, as_json: bool
) -> None:
    """Restore an archive to an empty database and empty folders, on SQLite or PostgreSQL.

    The archives that an incremental one continues are found next to it. All of them are verified before
    anything is written. All users have to log in again.
    """
    from strongroom.assembly.commands import import_tables
    from strongroom.extensions.backup.archive import BackupError
    from strongroom.extensions.backup.restore import restore

    import_tables()

    configuration = context.configuration
    with ExitStack() as resources:
        database = open_database(configuration)
        resources.callback(database.close)
        storages = resources.enter_context(_local_storages(configuration))
        try:
            # The number of files is known only after the archive was verified.
            with progress_bar("Restoring", hidden=as_json) as progress:
                manifest = restore(
                    file,
                    configuration.settings,
                    database,
                    storages,
                    SystemClock(),
                    load_plugins(configuration).tables,
                    keep_sessions=keep_sessions,
                    bases=bases,
                    progress=progress,
                )
        except BackupError as error:
            raise click.ClickException(str(error)) from error
    _show(manifest, as_json=as_json)
    for name, summary in manifest.storages.items():
        if not summary.included and not as_json:
            echo(_AFTER_RESTORE.format(name=name), err=True)


@backup_group.command("restore-tenant")
@config_option
@click.argument("file", type=ARCHIVE)
@click.argument("tenant_id")
@click.option("--name", help="The name of the restored tenant.")
@_base_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
def restore_tenant_command(
    context: CommandContext,
    file: Path,
    tenant_id: str,
    *,
    name: str | None,
    bases: tuple[Path, ...],
    as_json: bool,
) -> None:
    """Restore one tenant of an archive next to the others; safe while servers run.

    A tenant that was purged gets its former id. If the tenant exists, its state in the archive becomes
    a new tenant next to it, for the present members with their present roles. Members that no longer
    exist, invitations, service accounts and unfinished uploads are left out. Exits with 1 if the bytes
    of files are missing; all other files are restored.
    """
    from strongroom.assembly.commands import assemble_tenant_restoration
    from strongroom.extensions.backup.archive import BackupError
    from strongroom.extensions.backup.restore_tenant import restore_tenant

    with context.owning_container() as container:
        try:
            service = assemble_tenant_restoration(container)
            with progress_bar("Restoring", hidden=as_json) as progress:
                result = restore_tenant(
                    service, file, tenant_id, name=name, bases=bases, progress=progress
                )
        except BackupError as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        echo_json(asdict(result))
    else:
        echo(f'tenant {result.id} "{result.name}": {result.files} files as of {result.created_at}')
        for table, count in result.left_out.items():
            echo(f"left out: {count} rows of {table}")
    if result.lost:
        names = ", ".join(result.lost[:10])
        raise click.ClickException(f"{len(result.lost)} files have no bytes any more: {names}")


@backup_group.command("verify")
@config_option
@click.argument("file", type=ARCHIVE)
@_base_option
@click.option("--json", "as_json", is_flag=True, help="Print the archive's manifest as JSON.")
def verify_command(file: Path, *, bases: tuple[Path, ...], as_json: bool) -> None:
    """Verify an archive and those that it continues, without a database.

    Exits with 1 if one is missing or damaged.
    """
    from strongroom.extensions.backup.archive import BackupError
    from strongroom.extensions.backup.chain import ArchiveChain

    try:
        chain = ArchiveChain.open(file, bases)
        chain.verify().close()
    except BackupError as error:
        raise click.ClickException(str(error)) from error
    _show(chain.manifest, as_json=as_json)


@contextmanager
def _local_storages(configuration: Configuration) -> Iterator[dict[str, StorageBackend[Any]]]:
    from strongroom.assembly.plugin_host.hosts import offline_hosts

    selection = select(configuration)
    storages = {
        name: choice.create()
        for name, choice in selection.storages.items()
        if issubclass(choice.extension, LocalPaths)
        and configuration.settings.storages[name].over is None
    }
    hosts = offline_hosts(configuration.settings, selection.plugins, selection.options)
    try:
        for storage in storages.values():
            hosts.attach(storage)
        yield storages
    finally:
        for storage in storages.values():
            storage.close()


def _show(manifest: "Manifest", *, as_json: bool) -> None:
    if as_json:
        echo_json(asdict(manifest))
        return
    echo(f"{sum(manifest.tables.values())} rows of {len(manifest.tables)} tables")
    for name, summary in manifest.storages.items():
        held = "included" if summary.included else "NOT included: back up that store separately"
        echo(f"storage {name}: {summary.blobs} blobs, {summary.bytes} bytes, {held}")
    if manifest.left_out:
        names = ", ".join(manifest.left_out)
        echo(f"NOT included: tables of plugins that are not enabled: {names}", err=True)
    for name, fault in manifest.faults.items():
        echo(f"{name} is {fault}", err=True)
