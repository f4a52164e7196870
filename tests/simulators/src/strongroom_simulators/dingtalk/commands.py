"""The command ``strongroom dingtalk simulator``."""

from typing import Final

import click

from strongroom_simulators.dingtalk.samples import sample_app, sample_platform
from strongroom_simulators.dingtalk.server import Simulator

MANUAL: Final = """\
The simulator listens on {url}. Configure the server:

[login.dingtalk]
login_url = "{url}"
api_url = "{url}"
oapi_url = "{url}"
[login.dingtalk.apps.main]
client_id = "{app.client_id}"
client_secret = "{app.client_secret}"

People: {people}."""


@click.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", default=8091, show_default=True, help="The port; 0 selects a free one.")
@click.option(
    "--redirect-host",
    "redirect_hosts",
    default=("127.0.0.1", "localhost"),
    show_default=True,
    multiple=True,
    help="A registered host of redirect URIs.",
)
def simulator(host: str, port: int, redirect_hosts: tuple[str, ...]) -> None:
    """Serve a DingTalk with made-up people, until interrupted."""
    app = sample_app(*redirect_hosts)
    platform = sample_platform(app)
    server = Simulator(platform, host=host, port=port)
    click.echo(MANUAL.format(url=server.url, app=app, people=", ".join(platform.people)))
    server.serve()
