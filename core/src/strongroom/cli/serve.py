"""``strongroom serve``: the server."""

import socket
from typing import TYPE_CHECKING

import click

from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.schema import require_current_schema
from strongroom.config import Configuration

if TYPE_CHECKING:
    from strongroom.assembly.container import Container


@click.command()
@config_option
@click.pass_obj
def serve(context: CommandContext) -> None:
    """Serve until told to stop.

    In development, everything that is generated (database, keys, files, messages) is kept in one
    folder. In production, whatever is only safe on one's own machine is refused.
    """
    configuration = context.configuration
    settings = configuration.settings
    _refuse_faults(configuration)
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


def _refuse_faults(configuration: Configuration) -> None:
    """Make the application once, so that a fault is one line here, and not one in each process."""
    from strongroom.app import container_of, create_app

    container = container_of(create_app(configuration))
    try:
        require_current_schema(configuration, container.database)
        _require_storages(configuration, container)
    finally:
        container.close()
    _require_free_port(configuration)


def _require_storages(configuration: Configuration, container: "Container") -> None:
    for name in container.keeping.inventory.lost():
        message = "is missing, and files are in it; configure it again, and see: strongroom storage list"
        configuration.blame(("storages", name), message)
    configuration.refuse_problems()


def _require_free_port(configuration: Configuration) -> None:
    server = configuration.settings.server
    family = socket.AF_INET6 if ":" in server.host else socket.AF_INET
    try:
        socket.create_server((server.host, server.port), family=family).close()
    except OSError as error:
        key = "host" if isinstance(error, socket.gaierror) else "port"
        configuration.blame(("server", key), f"cannot listen there: {error.strerror}")
        configuration.refuse_problems()
