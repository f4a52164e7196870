"""``strongroom storage``: the bytes."""

import click

from strongroom.cli.context import CommandContext


@click.group("storage")
def storage_group() -> None:
    """Look after stored bytes."""


@storage_group.command("gc")
@click.pass_obj
def gc_command(context: CommandContext) -> None:
    """Remove bytes that nothing refers to any more; safe beside running servers."""
    with context.container() as container:
        click.echo(f"{container.keeping.blobs.collect()} blobs removed")
