"""``strongroom serve``: the server."""

import click

from strongroom.cli.context import CommandContext, config_option


@click.command()
@config_option
@click.pass_obj
def serve(context: CommandContext) -> None:
    """Serve until told to stop.

    In development, everything that is generated (database, keys, files, messages) is kept in one
    folder. In production, whatever is only safe on one's own machine is refused.
    """
    configuration = context.configuration
    # A fault shows here, as one line, and not in each of the processes that will serve.
    with context.container():
        pass
    settings = configuration.settings
    if not settings.is_production:
        click.echo(
            f"strongroom: DEVELOPMENT server, not for production; what it makes is kept in "
            f"{settings.server.data_dir.absolute()}",
            err=True,
        )
    click.echo(f"strongroom: serving {settings.public_root}{settings.server.base_path or '/'}", err=True)
    # Imported late, for no other command needs a server.
    from strongroom.server import run

    run(configuration)
