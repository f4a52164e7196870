"""``strongroom audit``: verifies, exports and prunes the audit record."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from strongroom.activity.audit.chain import Link
from strongroom.activity.audit.verifier import ChainBroken
from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.output import echo
from strongroom.cli.progress import progress_bar
from strongroom.cli.range_runs import RunOptions, run_options, run_task
from strongroom.clock import DAY
from strongroom.extensions.audit_exports.export import verify_export
from strongroom.foundation.caller import Origin
from strongroom.identity.sessions.checkpoints import parse_key_set, read_checkpoint

if TYPE_CHECKING:
    from strongroom.activity.audit.verifier import ChainVerification
    from strongroom.assembly.container import Container


@click.group("audit")
def audit_group() -> None:
    """Verify, export and prune the audit log."""


@audit_group.command("verify")
@click.option(
    "--expect",
    type=Link.parse,
    metavar="SEQUENCE:HASH",
    help="The newest record of an earlier run, stored where database users cannot change it. Without "
    "it, the removal of the newest records, or a recomputation of all hashes, is not detected.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@run_options
@click.pass_obj
def verify_command(
    context: CommandContext, expect: Link | None, options: RunOptions, *, as_json: bool
) -> None:
    """Check that no record was changed, removed or inserted; safe while servers run.

    Exits with 1 and names the first record that breaks the hash chain. Records that `audit prune` has
    removed are not reported as missing. A run of the last week that was stopped or killed is continued.
    """
    from strongroom.activity.audit.verifier import ProgressChanged

    with context.container() as container:
        make_task = partial(_make_verification, expect)
        try:
            task, _ = run_task(
                context, container, make_task, options, "Verifying", hidden=as_json, max_age=7 * DAY
            )
        except (ChainBroken, ProgressChanged) as error:
            raise click.ClickException(str(error)) from error
    verified = task.verified
    if as_json:
        echo(json.dumps({"records": verified.records, "newest": str(verified.last)}))
    else:
        echo(f"{verified.records} records are valid; the newest is {verified.last}")


def _make_verification(expect: Link | None, container: "Container") -> "ChainVerification":
    from strongroom.activity.audit.sealing import seal
    from strongroom.activity.audit.verifier import ChainVerification

    base = container.base
    # The ranges are of the records that exist now.
    seal(base.database)
    return ChainVerification(base.database, partial(base.keys.hash, ChainVerification.name), expect)


class Instant(click.ParamType["int"]):
    """A time in ISO 8601 with its offset, or a date, which begins at midnight in UTC."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            self.fail("must be like 2026-06-21 or 2026-06-21T08:00:00Z", param, ctx)
        if moment.tzinfo is None:
            if "T" in str(value):
                self.fail("needs an offset, such as Z for UTC", param, ctx)
            moment = moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1000)


@audit_group.command("export")
@config_option
@click.option("--since", type=Instant(), metavar="TIME", help="From this time on, as 2026-06-21.")
@click.option("--until", type=Instant(), metavar="TIME", help="Before this time.")
@click.pass_obj
def export_command(context: CommandContext, since: int | None, until: int | None) -> None:
    """Print the records of a time as JSON Lines, with a signed checkpoint; safe while servers run.

    The chain is verified on the way: exits with 1, and without a checkpoint, if a record was changed,
    removed or inserted. `rescue verify-export` verifies the file on any machine.
    """
    from strongroom.assembly.commands import assemble_audit_export

    with context.container() as container:
        export = assemble_audit_export(container)
        exported = export.find(since, until)
        try:
            with progress_bar("Exporting", exported.count) as progress:
                for line in export.lines(exported):
                    # Byte by byte: the checkpoint of the export verifies it.
                    click.echo(line)
                    progress(1)
        except ChainBroken as error:
            raise click.ClickException(f"{error}; the export has no checkpoint") from error


@click.command("verify-export")
@click.argument("file", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option(
    "--jwks",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    required=True,
    help="A JWK Set with the public key of that time, from /.well-known/jwks.json. With the algorithm "
    "HS256, the file of tokens.keys_file.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the checkpoint as JSON.")
def verify_export_command(file: Path, jwks: Path, *, as_json: bool) -> None:
    """Check a FILE of `audit export`, without a server, a database or a configuration.

    Exits with 1 if a record was changed, removed or inserted, or if the checkpoint is missing or was not
    signed by the server.
    """
    try:
        check = _check_by(jwks)
        with (
            file.open(encoding="ascii") as lines,
            progress_bar("Verifying", hidden=as_json) as progress,
        ):
            checkpoint = verify_export(lines, check, progress)
    except (ChainBroken, ValueError) as error:
        raise click.ClickException(f"{file}: {error}") from error
    if as_json:
        echo(json.dumps(asdict(checkpoint)))
        return
    echo(f"{checkpoint.records} records of {checkpoint.issuer} are valid")
    echo(f"from after {checkpoint.previous} to {checkpoint.last}, at {checkpoint.created_at}")


@audit_group.command("prune")
@click.pass_obj
def prune_command(context: CommandContext) -> None:
    """Remove records older than audit.retention_days; safe while servers run."""
    from strongroom.activity.audit.verifier import AuditRetention

    with context.container() as container, progress_bar("Pruning"):
        removed = container.get(AuditRetention).prune(Origin(user_agent="command line"))
    echo(f"{removed} records removed")


def _check_by(jwks: Path) -> Callable[[str], Mapping[str, Any]]:
    keys = parse_key_set(jwks.read_text(encoding="utf-8"))
    return lambda signed: read_checkpoint(keys, signed)
