"""``strongroom prune``: removes expired data."""

import click

from strongroom.cli.context import CommandContext, config_option


@click.command("prune")
@config_option
@click.pass_obj
def prune(context: CommandContext) -> None:
    """Remove expired data; safe while servers run. Run it once a day.

    Removes expired captchas, verification codes, rate limit counters and logins with their tokens; the
    personal data of users deleted more than users.erase_after_days ago; tenants deleted more than
    tenants.purge_after_days ago; file events older than files.events_kept_days; message records older
    than messages.retention_days; and audit records older than audit.retention_days. The content of
    deleted files is removed by `storage gc`.
    """
    with context.container() as container:
        for name, count in container.identity.prune_job.run():
            click.echo(f"{name}: {count} removed")
