"""``strongroom access-keys``: create, list and revoke access keys without a token."""

import json

import click

from strongroom.cli.context import CommandContext
from strongroom.cli.output import echo
from strongroom.cli.refusals import refusal
from strongroom.cli.users import COMMAND_LINE
from strongroom.clock import DAY, iso_format
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.errors import StrongroomError
from strongroom.identity.access_keys.models import AccessKey
from strongroom.identity.access_keys.service import KeyRequest
from strongroom.plugin_api.authentication import Scope

_PAGE = 1000


@click.group("access-keys")
def access_keys_group() -> None:
    """Create, list and revoke access keys of users and service accounts."""


@access_keys_group.command("create")
@click.option("--user", "user_id", metavar="ID", required=True, help="The user that the key acts as.")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice([scope.value for scope in Scope]),
    multiple=True,
    required=True,
    help="A scope of the key; can be given several times.",
)
@click.option("--name", default="command line", help="The name of the key.")
@click.option("--tenant", "tenant_id", metavar="ID", help="The only tenant that the key reaches.")
@click.option("--folder", "folder_id", metavar="ID", help="The only folder that the key reaches.")
@click.option("--days", type=click.IntRange(min=1), help="Days until the key ends.")
@click.option("--json", "as_json", is_flag=True, help="Print the key as JSON.")
@click.pass_obj
def create(
    context: CommandContext,
    user_id: str,
    scopes: tuple[str, ...],
    name: str,
    tenant_id: str | None,
    folder_id: str | None,
    days: int | None,
    *,
    as_json: bool,
) -> None:
    """Create an access key, and print it. It cannot be printed again.

    --folder needs --tenant.
    """
    from strongroom.identity.access_keys.service import AccessKeyService

    with context.container() as container:
        expires_at = None if days is None else container.base.clock.now() + days * DAY
        requested = KeyRequest(name, frozenset(map(Scope, scopes)), tenant_id, folder_id, expires_at)
        try:
            created = container.get(AccessKeyService).create_for(user_id, requested, None, COMMAND_LINE)
        except StrongroomError as error:
            raise refusal(error, container.base.translations) from error
    shown = {"id": created.key.id, "key": created.text, "expiresAt": iso_format(created.key.expires_at)}
    echo(json.dumps(shown) if as_json else created.text)


@access_keys_group.command("list")
@click.option("--user", "user_id", metavar="ID", required=True, help="The user of the keys.")
@click.pass_obj
def list_keys(context: CommandContext, user_id: str) -> None:
    """List the access keys of a user, newest first.

    Each line has the id of the key, its end, its last use, its scopes and its name.
    """
    from strongroom.identity.access_keys.service import AccessKeyService

    with context.container() as container:
        try:
            page = container.get(AccessKeyService).get_page(user_id, Paging(number=1, size=_PAGE))
        except StrongroomError as error:
            raise refusal(error, container.base.translations) from error
    for key in page.items:
        echo(_line(key))


@access_keys_group.command("revoke")
@click.argument("key_id")
@click.pass_obj
def revoke(context: CommandContext, key_id: str) -> None:
    """Revoke an access key. Running servers refuse it from the next request on."""
    from strongroom.identity.access_keys.service import AccessKeyService

    with context.container() as container:
        service = container.get(AccessKeyService)
        try:
            service.revoke_for(service.get_owner(key_id), key_id, None, COMMAND_LINE)
        except StrongroomError as error:
            raise click.ClickException(f"there is no access key {key_id}") from error
    echo(f"{key_id} revoked")


def _line(key: AccessKey) -> str:
    used = "never" if key.last_used_at is None else iso_format(key.last_used_at)
    return f"{key.id} {iso_format(key.expires_at)} {used} {key.scopes.replace(' ', ',')} {key.name}"
