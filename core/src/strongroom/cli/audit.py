"""``strongroom audit``: verifies and prunes the audit log."""

import json

import click

from strongroom.audit.service import Link
from strongroom.audit.verifier import ChainBroken
from strongroom.cli.context import CommandContext
from strongroom.identity import Origin


@click.group("audit")
def audit_group() -> None:
    """Verify and prune the audit log."""


@audit_group.command("verify")
@click.option(
    "--expect",
    type=Link.parse,
    metavar="SEQUENCE:HASH",
    help="The newest record of an earlier run, stored where database users cannot change it. Without "
    "it, the removal of the newest records, or a recomputation of all hashes, is not detected.",
)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_obj
def verify_command(context: CommandContext, expect: Link | None, *, as_json: bool) -> None:
    """Check that no record was changed, removed or inserted; safe while servers run.

    Exits with 1 and names the first record that breaks the hash chain. Records that `audit prune` has
    removed are not reported as missing.
    """
    with context.container() as container:
        try:
            verified = container.identity.audit_verifier.verify(expect)
        except ChainBroken as error:
            raise click.ClickException(str(error)) from error
    if as_json:
        click.echo(json.dumps({"records": verified.records, "newest": str(verified.last)}))
    else:
        click.echo(f"{verified.records} records are valid; the newest is {verified.last}")


@audit_group.command("prune")
@click.pass_obj
def prune_command(context: CommandContext) -> None:
    """Remove records older than audit.retention_days; safe while servers run."""
    with context.container() as container:
        removed = container.identity.audit_retention.prune(Origin(user_agent="command line"))
    click.echo(f"{removed} records removed")
