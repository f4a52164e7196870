"""The commands below ``strongroom clients``."""

import json
from typing import Any, TextIO

import click

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_oidc_provider.clients.brand_commands import make_brand_commands
from strongroom_oidc_provider.clients.clients import Clients
from strongroom_oidc_provider.schemas import ClientChangesSchema, NewClientSchema


def make_commands(host: HostAPI) -> click.Group:
    """Return the commands."""
    group = click.Group("clients", help="Applications that log their users in here.")
    commands = (_creation(host), _list(host), _claims(host), _deletion(host))
    for command in (*commands, *make_brand_commands(host)):
        group.add_command(command)
    return group


def _creation(host: HostAPI) -> click.Command:
    @click.command(name="create")
    @click.argument("name")
    @click.option("--redirect-uri", "redirectUris", multiple=True, help="May be repeated.")
    @click.option(
        "--post-logout-redirect-uri", "postLogoutRedirectUris", multiple=True, help="After a logout."
    )
    @click.option("--backchannel-logout-uri", "backchannelLogoutUri", help="Learns of logouts.")
    @click.option("--public", is_flag=True, help="It cannot keep a secret, such as an app.")
    @click.option("--trusted", is_flag=True, help="Its users are not asked for their consent.")
    @click.option("--device", "deviceLogin", is_flag=True, help="Users log in elsewhere, by a code.")
    @click.option("--scope", "scopes", multiple=True, help="A scope that it may request; repeatable.")
    @click.option("--resource", "resources", multiple=True, help="The URI of another service.")
    def create_client(**options: Any) -> None:
        """Create a client, and print its id and its secret, which is not shown again."""
        values = {
            name: list(value) if isinstance(value, tuple) else value for name, value in options.items()
        }
        body = {name: value for name, value in values.items() if value != []}
        if faults := NewClientSchema().validate(body):
            raise click.ClickException(str(faults))
        try:
            client, secret = host.get_service(Clients).create(NewClientSchema().load(body))
        except ApiError as error:
            raise click.ClickException(_text(error)) from error
        click.echo(f"client id      {client.id}")
        if secret is not None:
            click.echo(f"client secret  {secret}")

    return create_client


def _list(host: HostAPI) -> click.Command:
    @click.command(name="list")
    def list_clients() -> None:
        """Print the clients."""
        for client in host.get_service(Clients).all():
            kind = "public" if client.is_public else "confidential"
            click.echo(f"{client.id}  {kind:12}  {client.name}  {' '.join(client.redirect_uris)}")

    return list_clients


def _claims(host: HostAPI) -> click.Command:
    @click.command(name="claims")
    @click.argument("client_id")
    @click.argument("rules", type=click.File(encoding="utf-8"))
    def define_claims(client_id: str, rules: TextIO) -> None:
        """Replace the rules of a client about claims of groups and roles by a JSON file."""
        try:
            body = {"claims": json.load(rules)}
        except ValueError as error:
            raise click.ClickException(f"RULES: {error}") from error
        schema = ClientChangesSchema(exclude=["revision"])
        if faults := schema.validate(body):
            raise click.ClickException(str(faults))
        try:
            host.get_service(Clients).update(client_id, schema.load(body))
        except ApiError as error:
            raise click.ClickException(_text(error)) from error

    return define_claims


def _deletion(host: HostAPI) -> click.Command:
    @click.command(name="delete")
    @click.argument("client_id")
    def delete_client(client_id: str) -> None:
        """Delete a client."""
        try:
            host.get_service(Clients).delete(client_id)
        except ApiError as error:
            raise click.ClickException(_text(error)) from error

    return delete_client


def _text(error: ApiError) -> str:
    details = [f"{item.field}: {item.message}" for item in error.details]
    return " ".join([str(error), *details])
