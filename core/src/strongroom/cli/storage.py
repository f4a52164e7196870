"""``strongroom storage``: maintains the storages and the objects in them."""

import json
import re
from contextlib import ExitStack
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from strongroom.cli.context import CommandContext
from strongroom.cli.output import echo
from strongroom.cli.progress import progress_bar
from strongroom.cli.range_runs import RunOptions, pause_option, restart_option, run_task
from strongroom.clock import DAY
from strongroom.content.storage.ownership import read_owner
from strongroom.plugin_api.storage import StorageError, StorageUnavailable

if TYPE_CHECKING:
    from strongroom.assembly.container import Container
    from strongroom.extensions.storage_maintenance.check_task import StorageCheckTask

FAULTS_LEFT = 1


@click.command("fsck")
@click.option("--checksums", is_flag=True, help="Also read all objects and compare their SHA-256.")
@click.option(
    "--repair",
    is_flag=True,
    help="Remove orphaned objects older than a day, and release unreferenced blobs. Missing or damaged "
    "objects are not changed: restore them under their key, or delete the files that refer to them.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=4,
    show_default=True,
    help="Number of objects that are examined at the same time.",
)
@pause_option
@restart_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
@click.pass_context
def fsck_command(
    ctx: click.Context,
    context: CommandContext,
    *,
    checksums: bool,
    repair: bool,
    jobs: int,
    pause_ms: int,
    restart: bool,
    as_json: bool,
) -> None:
    """Compare the database with the stored objects; safe while servers run.

    A store that belongs to another database is refused. A run of the last week that was stopped or
    killed is continued by the same command: it lists the storages again, and reads only the objects that
    were not examined.

    Exits with 0 if there is no fault or all were repaired, and with 1 if faults remain or a storage is
    unavailable.
    """
    options = RunOptions(pause=pause_ms / 1000, restart=restart)
    with context.owning_container() as container:
        task = _check(
            context, container, options, checksums=checksums, repair=repair, jobs=jobs, hidden=as_json
        )
    if as_json:
        echo(json.dumps(_summary(task)))
    else:
        _show(task)
    if task.unlisted or any(finding.is_fault for finding in task.findings):
        ctx.exit(FAULTS_LEFT)


def _check(
    context: CommandContext,
    container: "Container",
    options: RunOptions,
    *,
    checksums: bool,
    repair: bool,
    jobs: int,
    hidden: bool,
) -> "StorageCheckTask":
    from strongroom.extensions.storage_maintenance.check_task import checking
    from strongroom.extensions.storage_maintenance.fsck import StorageCheck

    check = container.get(StorageCheck)
    try:
        with ExitStack() as stack:
            with progress_bar("Listing", hidden=hidden) as progress:
                opening = checking(
                    container.database,
                    check,
                    checksums=checksums,
                    repair=repair,
                    jobs=jobs,
                    progress=progress,
                )
                task = stack.enter_context(opening)
            run_task(
                context, container, lambda _: task, options, "Checking", hidden=hidden, max_age=7 * DAY
            )
            return task
    except StorageError as error:
        message = f"the check was aborted: {error}; the same command continues it"
        raise click.ClickException(message) from error


def _summary(task: "StorageCheckTask") -> dict[str, object]:
    return {
        "faults": task.unlisted + sum(finding.is_fault for finding in task.findings),
        "repaired": sum(finding.repaired for finding in task.findings),
        "findings": [asdict(finding) for finding in task.findings],
    }


def _show(task: "StorageCheckTask") -> None:
    for finding in task.findings:
        users = f"; used by {', '.join(finding.referrers)}" if finding.referrers else ""
        repaired = "; repaired" if finding.repaired else ""
        place = f"{finding.storage}:{finding.key}"
        echo(f"{finding.kind} {place}: {finding.detail}{users}{repaired}")
    if task.unlisted:
        echo(f"{task.unlisted} findings from before the interruption are not listed: use --restart")
    summary = _summary(task)
    echo(f"{summary['faults']} faults, {summary['repaired']} repaired")


@click.group("storage")
def storage_group() -> None:
    """Maintain the storages and the objects in them."""


@storage_group.command("gc")
@click.pass_obj
def gc_command(context: CommandContext) -> None:
    """Remove stored objects that are no longer referenced; safe while servers run.

    A store that belongs to another database is refused.
    """
    from strongroom.content.storage.service import BlobService
    from strongroom.extensions.uploads.service import UploadService
    from strongroom.extensions.uploads.services import DirectUploadServices

    with context.owning_container() as container:
        container.get(UploadService).collect()
        container.group(DirectUploadServices).direct_uploads.collect()
        blobs = container.get(BlobService)
        with progress_bar("Collecting", blobs.collectable()) as progress:
            removed = blobs.collect(progress)
    echo(f"{removed} blobs removed")


storage_group.add_command(fsck_command)


@storage_group.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the storages as JSON.")
@click.pass_obj
def list_command(context: CommandContext, *, as_json: bool) -> None:
    """Show the storages and their usage, including storages that are no longer configured.

    Exits with 1 if files are in a storage that is not configured.
    """
    from strongroom.content.storage.service import BlobService
    from strongroom.content.storage.stores import Inventory

    with context.container() as container:
        holdings = container.get(Inventory).holdings()
        target = container.get(BlobService).target
    if as_json:
        echo(json.dumps([asdict(holding) for holding in holdings]))
    else:
        for holding in holdings:
            note = "" if holding.is_configured else "  NOT CONFIGURED"
            note = "  new files go here" if holding.storage == target else note
            counts = f"{holding.files} files, {holding.size} bytes, {holding.leftovers} to be removed"
            echo(f"{holding.storage}: {counts}{note}")
    if any(holding.files and not holding.is_configured for holding in holdings):
        raise click.exceptions.Exit(1)


@click.command("claim-storage")
@click.argument("name")
@click.option(
    "--from",
    "previous",
    metavar="DATABASE_ID",
    help="The id of the current owner, from the message of the refusal.",
)
@click.pass_obj
def claim_command(context: CommandContext, name: str, previous: str | None) -> None:
    """Make this database the owner of the store of the storage NAME.

    The servers, `storage gc` and `storage fsck --repair` of the owner remove objects that its database
    does not know. So claim a store only if no other database uses it: after a disaster, when this
    database permanently replaces another, or for a copy of a store. Running servers of the previous
    owner stop writing within a minute.
    """
    from strongroom.content.storage.service import BlobService

    with context.container() as container:
        blobs = container.get(BlobService)
        if name not in blobs.storages:
            raise click.UsageError(f"there is no [storages.{name}] in the configuration")
        backend = blobs.storages[name].backend
        try:
            owner = read_owner(backend)
            if owner and owner.database != previous:
                raise click.UsageError(
                    f"the store belongs to the database {owner.database}, claimed {owner.claimed_at} by "
                    f"{owner.claimed_by}; to take it over, add: --from {owner.database}"
                )
            mine = blobs.ownership.take(name, backend)
        except StorageError as error:
            raise click.ClickException(f"the store cannot be claimed: {error}") from error
    echo(f"{name} belongs to the database {mine.database} now")
    if owner and owner.database != mine.database:
        echo(f"warning: the database {owner.database} must never use this store again", err=True)


class ByteRate(click.ParamType["int"]):
    """A number of bytes per second, such as 500k, 20M or 1G; the units are powers of 1024."""

    name = "bytes/s"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        match = re.fullmatch(r"([1-9]\d*)([kKmMgG]?)", str(value))
        if match is None:
            self.fail("must be like 500k, 20M or 1G", param, ctx)
        return int(match[1]) << 10 * " kmg".index(match[2].lower() or " ")


@storage_group.command("migrate")
@click.argument("source")
@click.argument("target")
@click.option("--rate", type=ByteRate(), help="The maximum bytes per second to copy, such as 20M.")
@click.option(
    "--jobs", type=click.IntRange(1, 64), default=4, show_default=True, help="Files copied concurrently."
)
@click.option(
    "--grace",
    type=click.IntRange(0),
    default=900,
    show_default=True,
    help="Seconds for which the old copies remain for current readers; use more than the lifetime of "
    "signed URLs.",
)
@click.pass_obj
def migrate_command(
    context: CommandContext, source: str, target: str, rate: int | None, jobs: int, grace: int
) -> None:
    """Move all files of the storage SOURCE to the storage TARGET; safe while servers run.

    The checksum of each file is verified while it is copied. An interrupted run, even by a crash, is
    continued by running the same command again; swapping the names moves the files back. Old copies
    whose grace period has not ended when the command finishes are removed by `storage gc`.

    Exits with 1 if files are missing or damaged in SOURCE, which are reported and left there, or if a
    storage is unavailable.
    """
    from strongroom.content.storage.service import BlobService
    from strongroom.content.storage.streams import BandwidthLimiter
    from strongroom.extensions.storage_maintenance.migration import Migration, MigrationPlan

    with context.owning_container() as container:
        for name in (source, target):
            if name not in container.get(BlobService).storages:
                raise click.UsageError(f"there is no [storages.{name}] in the configuration")
        if source == target:
            raise click.UsageError("SOURCE and TARGET are the same storage")
        if container.get(BlobService).target == source:
            echo(f"note: new files still go to {source}; see [files] storage", err=True)
        move = MigrationPlan(source, target, grace * 1000, jobs, BandwidthLimiter(rate))
        try:
            length = container.get(Migration).remaining(source)
            with progress_bar(f"{source} -> {target}", length) as progress:
                report = container.get(Migration).run(move, progress)
        except StorageUnavailable as error:
            raise click.ClickException(f"{error}; run the command again to continue") from error
    for key in report.damaged:
        echo(f"damaged or missing in {source}: blob {key}", err=True)
    echo(f"{report.moved} files moved")
    if report.damaged:
        raise click.exceptions.Exit(1)
