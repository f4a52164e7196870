"""``strongroom drain``: takes a running server out of service."""

import os
import signal
import time
from typing import Final

import click

from strongroom.cli.context import CommandContext, config_option
from strongroom.local_server import PidFile

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
    click.echo(f"draining for {settings.drain_seconds} s, then finishing open requests", err=True)
    deadline = time.monotonic() + timeout
    while file.owner() is not None:
        if time.monotonic() > deadline:
            raise click.ClickException(f"process {pid} has not stopped within {timeout} s")
        time.sleep(_STEP_SECONDS)
    click.echo("stopped")
