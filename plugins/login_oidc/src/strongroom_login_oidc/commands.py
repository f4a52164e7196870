"""The commands below ``strongroom oidc``."""

import click

from strongroom.plugin_api.web import HostAPI
from strongroom_login_oauth.routes import redirect_uri
from strongroom_login_oidc.back_channel import LOGOUTS
from strongroom_login_oidc.method import OIDCLogin

_MISSING = "the simulator is in a distribution of its own: pip install strongroom-simulators"


@click.group()
def oidc() -> None:
    """Tools for login by OpenID Connect."""


def commands_of(host: HostAPI) -> click.Group:
    """Return the group with the commands that need the configuration."""

    @click.command()
    def uris() -> None:
        """Print the URIs to register at each configured provider."""
        login = host.login_method(OIDCLogin)
        if login is None:
            return
        for name in login.providers:
            click.echo(f"[login.oidc.providers.{name}]")
            click.echo(f"  redirect URI: {redirect_uri(host, login, name)}")
            click.echo(f"  back-channel logout URI: {host.public_url}{LOGOUTS}/{name}")

    return click.Group("oidc", commands={**oidc.commands, "uris": uris}, help=oidc.help)


# The simulator defines the options, and prints them for --help.
@oidc.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def simulator(options: tuple[str, ...]) -> None:
    """Run a simulated provider with made-up people, such as Google or Keycloak.

    Needs the distribution strongroom-simulators.
    """
    try:
        from strongroom_simulators.oidc_providers.commands import simulator
    except ModuleNotFoundError as error:
        if error.name is None or not error.name.startswith("strongroom_simulators"):
            raise
        raise click.ClickException(_MISSING) from None
    simulator.main(options, prog_name="strongroom oidc simulator")
