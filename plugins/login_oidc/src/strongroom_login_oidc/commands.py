"""The commands below ``strongroom oidc``."""

import click

from strongroom.plugin_api.host import HostAPI
from strongroom_login_oauth.routes import redirect_uri
from strongroom_login_oidc.back_channel import LOGOUTS
from strongroom_login_oidc.method import OIDCLogin


def make_commands(host: HostAPI) -> click.Group:
    """Return the group of the commands."""
    group = click.Group("oidc", help="Tools for login by OpenID Connect.")

    @group.command()
    def uris() -> None:
        """Print the URIs to register at each configured provider."""
        login = host.extension(OIDCLogin)
        if login is None:
            return
        for name in login.providers:
            click.echo(f"[login.oidc.providers.{name}]")
            click.echo(f"  redirect URI: {redirect_uri(host, login, name)}")
            click.echo(f"  back-channel logout URI: {host.public_url}{LOGOUTS}/{name}")

    return group
