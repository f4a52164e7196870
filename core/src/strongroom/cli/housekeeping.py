"""``strongroom housekeeping``: what has had its time."""

import click

from strongroom.cli.context import CommandContext, config_option


@click.command("housekeeping")
@config_option
@click.pass_obj
def housekeeping(context: CommandContext) -> None:
    """Remove what has expired; safe beside running servers. Run it once a day.

    That is captchas, verification codes, counts for limits, logins with their tokens, the personal data
    of users deleted longer than users.erase_after_days ago, tenants deleted longer than
    tenants.purge_after_days ago, file events older than files.events_kept_days, and the records older
    than messages.retention_days and audit.retention_days. The bytes of deleted files are for
    `storage gc` to remove.
    """
    with context.container() as container:
        for name, count in container.identity.housekeeping.run():
            click.echo(f"{name}: {count} removed")
