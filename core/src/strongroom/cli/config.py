"""``strongroom config``: look at the configuration."""

import click

from strongroom.cli.context import CommandContext, config_option
from strongroom.config.describe import core_sections, show, template
from strongroom.production import refuse_unsafe
from strongroom.selection import offered_sections, select


@click.group("config")
def config_group() -> None:
    """Look at the configuration."""


@config_group.command("check")
@config_option
@click.pass_obj
def check_command(context: CommandContext) -> None:
    """Check the configuration, without starting anything; exit with 2 if it cannot be served."""
    from strongroom.assembly.texts import message_texts

    refuse_unsafe(context.configuration, select(context.configuration))
    message_texts(context.configuration)
    click.echo("the configuration is fine")


@config_group.command("show")
@config_option
@click.option("--origin", is_flag=True, help="Say where each value was set.")
@click.pass_obj
def show_command(context: CommandContext, *, origin: bool) -> None:
    """Show every key and its value; secrets are not shown."""
    configuration = context.configuration
    selection = select(configuration)
    sections = [*core_sections(configuration.settings), *selection.sections()]
    for line in show(sections, configuration.raw, with_origin=origin):
        click.echo(line)


@config_group.command("template")
@config_option
@click.pass_obj
def template_command(context: CommandContext) -> None:
    """Print a configuration file with every key at its default, each with its meaning."""
    sections = [*core_sections(), *offered_sections(select(context.configuration).plugins)]
    for line in template(sections):
        click.echo(line)
