"""``strongroom serve``: the server."""

import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.schema import require_current_schema
from strongroom.cli.setup_link import make_setup_link
from strongroom.config import Configuration, load

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
    with _metrics_folder(configuration) as metrics_folder:
        with _checked(configuration) as container:
            _require_free_ports(configuration)
            if not settings.is_production:
                click.echo(
                    f"strongroom: DEVELOPMENT server, not for production; what it makes is kept in "
                    f"{settings.server.data_dir.absolute()}",
                    err=True,
                )
                _show_setup_link(container)
        click.echo(
            f"strongroom: serving {settings.public_root}{settings.server.base_path or '/'}", err=True
        )
        # Imported late, for no other command needs a server.
        from strongroom.server import run

        run(configuration, lambda: _reread(context), metrics_folder)


def _show_setup_link(container: "Container") -> None:
    """Show whoever starts a server without an administrator the link that makes one.

    In development alone: what a server in production says is collected, and read by more people than
    may administer it. There, the link is made by ``strongroom users invite-admin``.
    """
    from strongroom.setup.service import AdministratorExists

    try:
        url = make_setup_link(container).url
    except AdministratorExists:
        return
    click.echo(f"strongroom: no administrator yet; good once, for an hour: {url}", err=True)


def _reread(context: CommandContext) -> Configuration:
    """Return the configuration as it is now.

    Raises:
        ConfigurationError: it cannot be served, or has another address than the server listens on.
    """
    configuration, before = load(context.config_path, os.environ), context.configuration.settings
    for section, keys in (("server", ("host", "port", "workers")), ("management", ("host", "port"))):
        for key in keys:
            now = getattr(getattr(configuration.settings, section), key)
            if now != getattr(getattr(before, section), key):
                configuration.blame((section, key), "changes only when the server is started anew")
    configuration.refuse_problems()
    with _checked(configuration):
        return configuration


@contextmanager
def _metrics_folder(configuration: Configuration) -> Iterator[Path | None]:
    """Make a folder for the metrics of all processes, if there is an address where they are read."""
    if not configuration.settings.management.port:
        yield None
        return
    from strongroom.telemetry.processes import share_metrics

    with tempfile.TemporaryDirectory(prefix="strongroom-metrics-") as folder:
        share_metrics(Path(folder))
        yield Path(folder)


@contextmanager
def _checked(configuration: Configuration) -> Iterator["Container"]:
    """Make the application once, so that a fault is one line here, and not one in each process.

    Raises:
        ConfigurationError: it cannot be served.
    """
    from strongroom.app import container_of, create_app
    from strongroom.production import refuse_unusable

    container = container_of(create_app(configuration))
    try:
        require_current_schema(configuration, container.database)
        _require_storages(configuration, container)
        storages = container.keeping.blobs.storages.items()
        refuse_unusable(configuration, {name: store.backend for name, store in storages})
        yield container
    finally:
        container.close()


def _require_storages(configuration: Configuration, container: "Container") -> None:
    for name in container.keeping.inventory.lost():
        message = "is missing, and files are in it; configure it again, and see: strongroom storage list"
        configuration.blame(("storages", name), message)
    configuration.refuse_problems()


def _require_free_ports(configuration: Configuration) -> None:
    server, management = configuration.settings.server, configuration.settings.management
    _require_free_port(configuration, "server", server.host, server.port)
    if management.port:
        _require_free_port(configuration, "management", management.host, management.port)
    configuration.refuse_problems()


def _require_free_port(configuration: Configuration, section: str, host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        key = "host" if isinstance(error, socket.gaierror) else "port"
        configuration.blame((section, key), f"cannot listen there: {error.strerror}")
