"""``strongroom storage fsck``: compares the database with the stored objects."""

import json
from collections.abc import Sequence
from dataclasses import asdict

import click

from strongroom.cli.context import CommandContext
from strongroom.cli.progress import progress_bar
from strongroom.plugin_api.storage import StorageError
from strongroom.storage.fsck import Finding, StorageCheck

FAULTS_LEFT = 1


@click.command("fsck")
@click.option("--checksums", is_flag=True, help="Also read all objects and compare their SHA-256.")
@click.option(
    "--repair",
    is_flag=True,
    help="Remove orphaned objects older than a day, and release unreferenced blobs. Missing or damaged "
    "objects are not changed: restore them under their key, or delete the files that refer to them.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
@click.pass_context
def fsck_command(
    ctx: click.Context, context: CommandContext, *, checksums: bool, repair: bool, as_json: bool
) -> None:
    """Compare the database with the stored objects; safe while servers run.

    A store that belongs to another database is refused.

    Exits with 0 if there is no fault or all were repaired, and with 1 if faults remain or a storage is
    unavailable.
    """
    with context.owning_container() as container:
        findings = _check(container.keeping.storage_check, checksums=checksums, repair=repair)
    if as_json:
        click.echo(json.dumps(_summary(findings)))
    else:
        _show(findings)
    if any(finding.is_fault for finding in findings):
        ctx.exit(FAULTS_LEFT)


def _check(check: StorageCheck, *, checksums: bool, repair: bool) -> list[Finding]:
    try:
        with progress_bar("Checking", check.units(checksums=checksums)) as progress:
            return list(check.run(checksums=checksums, repair=repair, progress=progress))
    except StorageError as error:
        raise click.ClickException(f"the check was aborted: {error}") from error


def _summary(findings: Sequence[Finding]) -> dict[str, object]:
    return {
        "faults": sum(finding.is_fault for finding in findings),
        "repaired": sum(finding.repaired for finding in findings),
        "findings": [asdict(finding) for finding in findings],
    }


def _show(findings: Sequence[Finding]) -> None:
    for finding in findings:
        users = f"; used by {', '.join(finding.referrers)}" if finding.referrers else ""
        repaired = "; repaired" if finding.repaired else ""
        place = f"{finding.storage}:{finding.key}"
        click.echo(f"{finding.kind} {place}: {finding.detail}{users}{repaired}")
    faults = sum(finding.is_fault for finding in findings)
    click.echo(f"{faults} faults, {sum(finding.repaired for finding in findings)} repaired")
