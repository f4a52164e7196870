"""``strongroom files``: maintains the content of files and the index of their names."""

from typing import TYPE_CHECKING

import click

from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.output import echo
from strongroom.cli.progress import progress_bar
from strongroom.cli.range_runs import RunOptions, run_options, run_task
from strongroom.foundation.database.range_work import RangeTask

if TYPE_CHECKING:
    from strongroom.assembly.container import Container


@click.group("files")
def files_group() -> None:
    """Maintain the content of files and the index of their names."""


@files_group.command("scan")
@config_option
@click.option(
    "--since",
    "database_version",
    metavar="DATABASE-VERSION",
    help="Also repeat the scans whose scanner had an older database than this.",
)
@click.pass_obj
def scan_command(context: CommandContext, database_version: str | None) -> None:
    """Scan the files that were never scanned; safe while servers run.

    Files can be read as before until a scan refuses them; then they are in quarantine. Running servers
    scan, too. Exits with 1 if files are left because a scanner or a storage is unavailable.
    """
    from strongroom.content.scanning.scanners import Scanners

    with context.owning_container() as container:
        if not container.get(Scanners).scanners:
            raise click.ClickException("no scanner is configured; see [scanning] scanners")
        planned = _plan(container, database_version)
        echo(f"{planned} scans planned")
        scanned, left = _run(container)
    echo(f"{scanned} scans attempted here, {left} left")
    if left:
        raise click.ClickException("some files are not scanned yet; see: strongroom doctor")


@files_group.command("reindex")
@config_option
@run_options
@click.pass_obj
def reindex_command(context: CommandContext, options: RunOptions) -> None:
    """Correct the index of searches and the counts of sorted lists; safe while servers run.

    Run it after an upgrade that was rolled out server by server, and after the deletion of very many
    files. `strongroom doctor` reports missing names. A run that was stopped or killed is continued.
    """
    from strongroom.content.files.reindexing import OrderRecount

    with context.container() as container:
        _, progress = run_task(context, container, _reindexing, options, "Indexing")
        container.get(OrderRecount).run()
    echo(f"{progress.hits} names corrected")


def _reindexing(container: "Container") -> RangeTask:
    from strongroom.content.files.reindexing import NameReindexing

    return container.get(NameReindexing).task


def _plan(container: "Container", database_version: str | None) -> int:
    from strongroom.content.scanning.rescans import Rescans

    rescans = container.get(Rescans)
    repeated = rescans.plan_older(database_version) if database_version is not None else 0
    return rescans.plan_unscanned() + repeated


def _run(container: "Container") -> tuple[int, int]:
    from strongroom.content.scanning.rescans import Rescans
    from strongroom.content.scanning.worker import ScanWorker

    worker, rescans, scanned = container.get(ScanWorker), container.get(Rescans), 0
    with progress_bar("Scanning", rescans.due()[0]) as progress:
        while worker.run_one():
            scanned += 1
            progress(1)
    return scanned, rescans.due()[0]
