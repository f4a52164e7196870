"""``strongroom serve``, ``drain`` and ``openapi``: run, stop and describe the server."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from strongroom.cli.context import CommandContext, config_option, warn
from strongroom.cli.output import echo, echo_json
from strongroom.cli.startup import application, limits_fault, raise_file_limit, require_free_ports
from strongroom.cli.users import make_setup_link
from strongroom.foundation.config import Configuration, Settings, load
from strongroom.foundation.plugins.selection import select
from strongroom.foundation.processes import PidFile, in_own_process
from strongroom.foundation.service_manager import inherited_sockets

if TYPE_CHECKING:
    from strongroom.assembly.container import Container


@click.command()
@config_option
@click.pass_obj
def serve(context: CommandContext) -> None:
    """Run the server until a stop signal arrives.

    In development, all generated data (database, keys, files, messages) is stored in one folder. In
    production, settings that are safe only on a developer's machine are refused.
    """
    configuration = context.configuration
    # Before any other process is forked, because the sockets are meant for this one.
    inherited_sockets()
    # Before anything opens files, and inherited by the workers.
    raise_file_limit()
    # Before the preload, because prometheus_client selects its mode when it is imported.
    with _metrics_folder(configuration) as metrics_folder:
        _preload(configuration)
        # No other command needs the server, and importing it takes as long as the checks.
        in_own_process(
            lambda: _prepare(configuration),
            meanwhile=lambda: import_module("strongroom.assembly.server_process"),
        )
        from strongroom.assembly.server_process import run

        run(
            configuration,
            lambda: _report_serving(configuration.settings),
            lambda: _reread(context),
            metrics_folder,
        )


def _preload(configuration: Configuration) -> None:
    """Import the application and its plugins, so that all workers share their memory."""
    import_module("strongroom.assembly.app")
    # Features import their services and their views when they register them.
    features = import_module("strongroom.assembly.features")
    features.import_models()
    list(features.core_blueprints())
    select(configuration)


def _prepare(configuration: Configuration) -> None:
    """Check the configuration once, before the workers start and each would report its problems."""
    settings = configuration.settings
    with application(configuration) as container:
        require_free_ports(configuration)
        if fault := limits_fault(container):
            warn(f"redis.url: {fault.message}")
        if not settings.is_production:
            echo(
                f"strongroom: DEVELOPMENT server, not for production; its data is in "
                f"{settings.server.data_dir.absolute()}",
                err=True,
            )
            _show_setup_link(container)


def _report_serving(settings: Settings) -> None:
    echo(f"strongroom: serving {_addresses(settings)}", err=True)


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
    from strongroom.extensions.first_start.first_administrator import AdministratorExists

    try:
        url = make_setup_link(container).url
    except AdministratorExists:
        return
    echo(f"strongroom: no administrator yet; single-use link, valid for an hour: {url}", err=True)


def _reread(context: CommandContext) -> Configuration:
    """Load the current configuration, for a reload."""
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
    """Create a folder for the metrics of all processes, if the management interface is enabled.

    Folders of servers that were killed are removed in any case.
    """
    from strongroom.extensions.observability.shared_metrics import (
        metrics_folder,
        remove_stale_folders,
        share_metrics,
    )

    remove_stale_folders()
    if not configuration.settings.management.port:
        yield None
        return
    with metrics_folder() as folder:
        share_metrics(folder)
        yield folder


_STEP_SECONDS: Final = 0.1


@click.command()
@config_option
@click.option("--port", type=int, help="The server.port of the server, if not the configured one.")
@click.option(
    "--timeout", type=int, default=120, show_default=True, help="Seconds to wait for the server to stop."
)
@click.pass_obj
def drain(context: CommandContext, port: int | None, timeout: int) -> None:
    """Shut down the server of this machine without a failed request, and wait until it has stopped.

    For server.drain_seconds, readyz returns 503 (draining) while other requests are served, so that
    load balancers stop sending requests. Then the server finishes the open requests and stops. SIGTERM
    does the same.
    """
    settings = context.configuration.settings
    port = settings.server.port if port is None else port
    file = PidFile(settings, port)
    pid = file.owner()
    if pid is None:
        raise click.ClickException(f"no server of {settings.server.data_dir} runs on port {port}")
    try:
        os.kill(pid, signal.SIGTERM)
    except PermissionError:
        raise click.ClickException(
            f"process {pid} belongs to another user; run this as that user"
        ) from None
    echo(f"draining for {settings.drain_seconds} s, then finishing open requests", err=True)
    deadline = time.monotonic() + timeout
    while file.owner() is not None:
        if time.monotonic() > deadline:
            raise click.ClickException(f"process {pid} has not stopped within {timeout} s")
        time.sleep(_STEP_SECONDS)
    echo("stopped")


@click.command()
@click.pass_obj
def openapi(context: CommandContext) -> None:
    """Print the OpenAPI document of the configured server, including its plugins."""
    from strongroom.assembly.app import create_app, get_container
    from strongroom.extensions.api_docs.views import DOCUMENT_PATH

    app = create_app(context.configuration)
    base_path = context.configuration.settings.server.base_path
    document = app.test_client().get(base_path + DOCUMENT_PATH).get_json()
    get_container(app).close()
    echo_json(document, indent=2)
