"""The command ``strongroom alipay simulator``."""

from pathlib import Path
from typing import Final

import click

from strongroom_simulators.alipay import KeyPair, Simulator, sample_app, sample_platform
from strongroom_simulators.listening import listening, run

MANUAL: Final = """\
The simulator listens on {url}. Configure the server:

[login.alipay.apps.main]
app_id = "{app.app_id}"
private_key_file = "{private}"
alipay_public_key_file = "{public}"
page_url = "{url}"
gateway_url = "{url}"

People: {people}."""


@click.command()
@listening(8092)
@click.option(
    "--redirect-uri",
    default="http://127.0.0.1:8000/api/v1/alipay-authorizations/callback/main",
    show_default=True,
    help="The registered redirect URI of the app.",
)
@click.option(
    "--keys",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("alipay-keys"),
    show_default=True,
    help="The folder to write new keys to.",
)
def simulator(host: str, port: int, redirect_uri: str, keys: Path) -> None:
    """Serve an Alipay platform with made-up people, until interrupted."""
    app_keys = KeyPair()
    app = sample_app(app_keys.public, redirect_uri)
    platform = sample_platform(app)
    private, public = keys / "app_private_key.pem", keys / "alipay_public_key.pem"
    keys.mkdir(exist_ok=True, mode=0o700)
    private.write_text(app_keys.private_text())
    public.write_text(platform.keys.public_text())
    server = Simulator(platform, host=host, port=port)
    run(server, MANUAL, platform.people, app=app, private=private, public=public)
