"""The command ``strongroom dingtalk simulator``."""

from typing import Final

import click

from strongroom_simulators.dingtalk.samples import sample_app, sample_platform
from strongroom_simulators.dingtalk.server import Simulator
from strongroom_simulators.listening import listening, run

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
@listening(8091)
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
    run(Simulator(platform, host=host, port=port), MANUAL, platform.people, app=app)
