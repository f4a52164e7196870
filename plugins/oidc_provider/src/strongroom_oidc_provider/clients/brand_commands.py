"""The commands below ``strongroom clients`` for brands and states of clients."""

from pathlib import Path
from typing import Any

import click

from strongroom.plugin_api.host import HostAPI
from strongroom.plugin_api.web import ApiError
from strongroom_oidc_provider.clients.brands import Brands
from strongroom_oidc_provider.clients.clients import Clients
from strongroom_oidc_provider.clients.states import ClientStates
from strongroom_oidc_provider.schemas import ClientChangesSchema


def make_brand_commands(host: HostAPI) -> list[click.Command]:
    """Return the commands."""
    return [_brand(host), _disabling(host), _enabling(host)]


def _brand(host: HostAPI) -> click.Command:
    @click.command(name="brand")
    @click.argument("client_id")
    @click.option("--name", help="What users see of it.")
    @click.option("--accent", help="The colour of buttons and links, such as #0b7f62.")
    @click.option("--terms-url", "termsUrl", help="Its terms of service: an https URL.")
    @click.option("--privacy-url", "privacyUrl", help="Its privacy policy: an https URL.")
    @click.option(
        "--logo",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        help="A PNG or SVG of at most 100 KB.",
    )
    def brand_client(client_id: str, logo: Path | None, **options: str | None) -> None:
        """Change what the pages of a client's users show; an empty value removes one."""
        body: dict[str, Any] = {
            name: value or None for name, value in options.items() if value is not None
        }
        if faults := ClientChangesSchema(exclude=["revision"]).validate(body):
            raise click.ClickException(str(faults))
        try:
            host.get_service(Clients).update(client_id, body)
            if logo is not None:
                host.get_service(Brands).set_logo(client_id, logo.read_bytes())
        except ApiError as error:
            raise click.ClickException(_text(error)) from error

    return brand_client


def _disabling(host: HostAPI) -> click.Command:
    @click.command(name="disable")
    @click.argument("client_id")
    def disable_client(client_id: str) -> None:
        """End the grants of a client, which logs no user in until it is enabled."""
        _run(lambda: host.get_service(ClientStates).disable(client_id))

    return disable_client


def _enabling(host: HostAPI) -> click.Command:
    @click.command(name="enable")
    @click.argument("client_id")
    def enable_client(client_id: str) -> None:
        """Let a client log its users in again."""
        _run(lambda: host.get_service(ClientStates).enable(client_id))

    return enable_client


def _run(change: Any) -> None:
    try:
        change()
    except ApiError as error:
        raise click.ClickException(_text(error)) from error


def _text(error: ApiError) -> str:
    details = [item.message for item in error.details]
    return " ".join([str(error), *details])
