"""``strongroom pages``: copies templates of pages and mails, for a deployment to change."""

import click

from strongroom.assembly.page_templates import originals, template_copies
from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.output import echo
from strongroom.foundation.plugins.selection import select


@click.group("pages")
def pages_group() -> None:
    """List and copy the templates of pages and mails."""


@pages_group.command("list")
@config_option
@click.pass_obj
def list_command(context: CommandContext) -> None:
    """List the templates of the server and of the enabled plugins."""
    for name in sorted(originals(select(context.configuration).plugins.plugins)):
        echo(name)


@pages_group.command("copy")
@config_option
@click.argument("names", nargs=-1, required=True)
@click.pass_obj
def copy_command(context: CommandContext, names: tuple[str, ...]) -> None:
    """Copy templates to the folder pages.templates, where they replace the originals.

    After an upgrade, `strongroom doctor` names the copies whose originals have changed.
    """
    copies = template_copies(context.configuration, select(context.configuration).plugins.plugins)
    if copies is None:
        raise click.ClickException("set pages.templates to a folder for the copies")
    for name in names:
        try:
            echo(copies.copy(name))
        except (OSError, ValueError) as error:
            raise click.ClickException(str(error)) from error
