"""The command ``strongroom wecom simulator``."""

from typing import Final

import click

from strongroom_simulators.listening import listening, run
from strongroom_simulators.wecom.samples import sample_app, sample_platform
from strongroom_simulators.wecom.server import Simulator

MANUAL: Final = """\
The simulator listens on {url}. Configure the server:

[login.wecom]
login_url = "{url}"
open_url = "{url}"
api_url = "{url}"
[login.wecom.apps.main]
corpid = "{app.corpid}"
agentid = {app.agentid}
secret = "{app.secret}"

People: {people}."""


@click.command()
@listening(8092)
@click.option(
    "--trusted-domain",
    "domains",
    default=("127.0.0.1", "localhost"),
    show_default=True,
    multiple=True,
    help="A trusted domain of the app: a host of redirect URIs.",
)
def simulator(host: str, port: int, domains: tuple[str, ...]) -> None:
    """Serve a WeCom with made-up people, until interrupted."""
    app = sample_app(*domains)
    platform = sample_platform(app)
    run(Simulator(platform, host=host, port=port), MANUAL, platform.people, app=app)
