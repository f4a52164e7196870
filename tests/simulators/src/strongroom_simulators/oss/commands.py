"""The command ``strongroom oss simulator``."""

import signal

import click

from strongroom_simulators.listening import listening
from strongroom_simulators.oss import Account, OssSimulator


@click.command()
@click.option(
    "--bucket", "buckets", multiple=True, required=True, help="A bucket to create; may be repeated."
)
@listening(9000)
@click.option(
    "--region", default="cn-hangzhou", show_default=True, help="The region required in signatures."
)
@click.option(
    "--access-key-id", default="simulator", show_default=True, help="The access key to accept."
)
@click.option("--access-key-secret", default="simulator-secret", show_default=True, help="Its secret.")
def simulator(
    *,
    buckets: tuple[str, ...],
    host: str,
    port: int,
    region: str,
    access_key_id: str,
    access_key_secret: str,
) -> None:
    """Serve the OSS protocol on this machine, for tests and development, until interrupted.

    Objects live in a temporary folder that is removed at the end.
    """
    account = Account(access_key_id, access_key_secret)
    server = OssSimulator(buckets, account=account, region=region, host=host, port=port)
    # SIGTERM, with which containers are stopped, also removes the folder.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    click.echo(f"OSS simulator on {server.endpoint}, buckets: {', '.join(buckets)}")
    try:
        server.serve()
    except KeyboardInterrupt:
        click.echo("Stopped.")
    finally:
        server.close()
