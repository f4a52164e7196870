"""The command ``strongroom wechat simulator``."""

from typing import Final

import click

from strongroom_simulators.listening import listening, run
from strongroom_simulators.wechat import (
    Simulator,
    sample_mini_program,
    sample_platform,
    sample_website,
)

MANUAL: Final = """\
The simulator listens on {url}. Configure the server:

[login.wechat]
open_url = "{url}"
api_url = "{url}"
[login.wechat.apps.site]
kind = "website"
appid = "{website.appid}"
secret = "{website.secret}"
redirect_uri = "http://{website.domain}:8000/api/v1/wechat-authorizations/callback"
[login.wechat.apps.mini]
kind = "mini_program"
appid = "{mini_program.appid}"
secret = "{mini_program.secret}"

People: {people}."""


@click.command()
@listening(8090)
@click.option(
    "--domain", default="127.0.0.1", show_default=True, help="The host of the website's redirect_uri."
)
@click.option(
    "--denial",
    type=click.Choice(["redirects", "stays"]),
    default="redirects",
    show_default=True,
    help="Whether the browser is redirected when the person denies.",
)
def simulator(host: str, port: int, domain: str, denial: str) -> None:
    """Serve a WeChat platform with made-up people, until interrupted."""
    website, mini_program = sample_website(domain), sample_mini_program()
    platform = sample_platform(website, mini_program, denial_redirects=denial == "redirects")
    server = Simulator(platform, host=host, port=port)
    run(server, MANUAL, platform.people, website=website, mini_program=mini_program)
