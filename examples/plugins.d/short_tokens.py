"""Prints an access token of a service account that lasts minutes, for scripts that must keep no secret.

Copy this file to the folder of ``[plugins] folder``::

    strongroom short-token 01977ab2-... --scope users:read

The token opens the REST API within the scopes, as an access key does. An administrator can end it before
it expires, as a login, and the audit log names its client.
"""

import click

from strongroom.plugin_api import hookimpl
from strongroom.plugin_api.grants import GrantClient, GrantTerms
from strongroom.plugin_api.host import HostAPI

API_VERSION = "2.0"

CLIENT = GrantClient("short-token", "Command short-token", is_public=False)


@hookimpl
def register_commands(host: HostAPI) -> list[click.Command]:
    """Return the command."""

    @click.command("short-token")
    @click.argument("account_id")
    @click.option("--scope", "scopes", multiple=True, required=True, help="A scope; repeat the option.")
    def short_token(account_id: str, scopes: tuple[str, ...]) -> None:
        """Print an access token of a service account."""
        terms = GrantTerms(scopes, refreshable=False)
        click.echo(host.grants.begin_as(account_id, CLIENT, terms).access_token)

    return [short_token]
