"""The command ``strongroom feishu simulator``."""

from typing import Final

import click

from strongroom_simulators.feishu import GLOBAL, MAINLAND, TENANT, Simulator, sample_app, sample_platform
from strongroom_simulators.listening import listening, run

MANUAL: Final = """\
The simulator listens on {url}. Configure the server:

[login.feishu.apps.main]
app_id = "{app.app_id}"
app_secret = "{app.app_secret}"
allowed_tenants = ["{tenant}"]
region = "{region}"
accounts_url = "{url}"
open_url = "{url}"

People: {people}."""


@click.command()
@listening(8091)
@click.option(
    "--redirect-uri",
    default="http://127.0.0.1:8000/api/v1/feishu-authorizations/callback/main",
    show_default=True,
    help="The registered redirect URI of the app.",
)
@click.option(
    "--region",
    type=click.Choice([MAINLAND, GLOBAL]),
    default=MAINLAND,
    show_default=True,
    help="Whether it is Feishu or Lark.",
)
def simulator(host: str, port: int, redirect_uri: str, region: str) -> None:
    """Serve a Feishu platform with made-up people, until interrupted."""
    app = sample_app(redirect_uri)
    platform = sample_platform(app, region=region)
    server = Simulator(platform, host=host, port=port)
    run(server, MANUAL, platform.people, app=app, tenant=TENANT, region=region)
