"""``strongroom serve``: runs the server."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from strongroom.child_process import in_own_process
from strongroom.cli.context import CommandContext, config_option, warn, warn_of_deprecations
from strongroom.cli.startup import (
    application,
    limits_fault,
    raise_file_limit,
    require_free_ports,
)
from strongroom.cli.users import make_setup_link
from strongroom.config import Configuration, Settings, load
from strongroom.plugins.selection import select

if TYPE_CHECKING:
    from strongroom.container.services import Container


@click.command()
@config_option
@click.pass_obj
def serve(context: CommandContext) -> None:
    """Run the server until a stop signal arrives.

    In development, all generated data (database, keys, files, messages) is stored in one folder. In
    production, settings that are safe only on a developer's machine are refused.
    """
    configuration = context.configuration
    warn_of_deprecations(configuration)
    # Before anything opens files, and inherited by the workers.
    raise_file_limit()
    # Before the preload, because prometheus_client selects its mode when it is imported.
    with _metrics_folder(configuration) as metrics_folder:
        _preload(configuration)
        # No other command needs the server, and importing it takes as long as the checks.
        in_own_process(
            lambda: _prepare(configuration), meanwhile=lambda: import_module("strongroom.server")
        )
        click.echo(f"strongroom: serving {_addresses(configuration.settings)}", err=True)
        from strongroom.server import run

        run(configuration, lambda: _reread(context), metrics_folder)


def _preload(configuration: Configuration) -> None:
    """Import the application and its plugins, so that all workers share their memory."""
    import_module("strongroom.app")
    select(configuration)


def _prepare(configuration: Configuration) -> None:
    """Check the configuration once, before the workers start and each would report its problems.

    Raises:
        ConfigurationError: the configuration is invalid.
    """
    settings = configuration.settings
    with application(configuration) as container:
        require_free_ports(configuration)
        if fault := limits_fault(container):
            warn(f"redis.url: {fault}")
        if not settings.is_production:
            click.echo(
                f"strongroom: DEVELOPMENT server, not for production; its data is in "
                f"{settings.server.data_dir.absolute()}",
                err=True,
            )
            _show_setup_link(container)


def _addresses(settings: Settings) -> str:
    """Return the public URL, and the listening address if it differs."""
    public = f"{settings.public_root}{settings.server.base_path or '/'}"
    if not settings.server.public_url:
        return public
    return f"{public}, listening on {settings.listening_root}"


def _show_setup_link(container: "Container") -> None:
    """Print the setup link if the server has no administrator yet.

    Only in development, because logs of a production server are read by more people than may
    administer it. In production, ``strongroom users invite-admin`` creates the link.
    """
    from strongroom.accounts.first_administrator import AdministratorExists

    try:
        url = make_setup_link(container).url
    except AdministratorExists:
        return
    click.echo(f"strongroom: no administrator yet; single-use link, valid for an hour: {url}", err=True)


def _reread(context: CommandContext) -> Configuration:
    """Load the current configuration, for a reload.

    Raises:
        ConfigurationError: it is invalid, or changes a key that requires a restart.
    """
    configuration, before = load(context.config_path, os.environ), context.configuration.settings
    for section, keys in (("server", ("host", "port", "workers")), ("management", ("host", "port"))):
        for key in keys:
            now = getattr(getattr(configuration.settings, section), key)
            if now != getattr(getattr(before, section), key):
                configuration.add_error((section, key), "cannot change on reload; restart the server")
    configuration.raise_if_invalid()
    in_own_process(lambda: _check(configuration))
    return configuration


def _check(configuration: Configuration) -> None:
    with application(configuration):
        pass


@contextmanager
def _metrics_folder(configuration: Configuration) -> Iterator[Path | None]:
    """Create a folder for the metrics of all processes, if the management interface is enabled."""
    if not configuration.settings.management.port:
        yield None
        return
    from strongroom.observability.shared_metrics import share_metrics

    with tempfile.TemporaryDirectory(prefix="strongroom-metrics-") as folder:
        share_metrics(Path(folder))
        yield Path(folder)
