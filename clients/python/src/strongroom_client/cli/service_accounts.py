"""The commands ``strongroom-client service-accounts``, of administrators."""

from datetime import UTC, datetime, timedelta
from typing import Any

import click
import msgspec

from ..models import AccessKey, NewKey, ServiceAccount
from ..operations import UNSET
from .context import Context, secret, stepped_up
from .output import Output

_SCOPES = ("users:read", "users:write", "tenants:read", "tenants:write", "audit:read")


@click.group("service-accounts")
def service_accounts() -> None:
    """Service accounts of the server and their access keys, for administrators."""


@service_accounts.command("list")
@click.pass_obj
def list_accounts(context: Context) -> None:
    """List the service accounts of the server."""
    with context.login.client() as client:
        for account in client.service_accounts.iterate():
            _print_account(context.output, account)


@service_accounts.command("create")
@click.argument("name")
@click.pass_obj
def create(context: Context, name: str) -> None:
    """Create a service account, and print it with its id."""
    with context.login.client() as client:
        account = stepped_up(client, lambda: client.service_accounts.create(name))
    _print_account(context.output, account)


@service_accounts.command("delete")
@click.argument("account_id", metavar="ID")
@click.confirmation_option(prompt="Delete the account with its keys?")
@click.pass_obj
def delete(context: Context, account_id: str) -> None:
    """Delete a service account with its keys."""
    with context.login.client() as client:
        stepped_up(client, lambda: client.service_accounts.delete(account_id))
    context.output.result({"id": account_id}, f"Deleted {account_id}.")


@service_accounts.command("create-key")
@click.argument("account_id", metavar="ID")
@click.option("--name", required=True, help="What the key is for.")
@click.option(
    "--scope", "scopes", type=click.Choice(_SCOPES), multiple=True, required=True, help="Repeatable."
)
@click.option("--days", type=click.IntRange(1), help="Days until the key ends.")
@click.option("--address", "addresses", multiple=True, help="A network of its clients. Repeatable.")
@click.option("--password", "has_password", is_flag=True, help="Prompt for your own password.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read your own password from stdin.")
@click.pass_obj
def create_key(
    context: Context,
    account_id: str,
    name: str,
    scopes: Any,
    days: int | None,
    addresses: tuple[str, ...],
    *,
    has_password: bool,
    from_stdin: bool,
) -> None:
    """Create an access key, and print it; it is not shown again.

    Requires a login within the last 10 minutes, or your password.
    """
    password = secret("Password", from_stdin=from_stdin) if has_password or from_stdin else UNSET
    new = NewKey(
        name=name,
        scopes=list(scopes),
        addresses=list(addresses),
        expires_at=UNSET if days is None else datetime.now(UTC) + timedelta(days=days),
        current_password=password,
    )
    with context.login.client() as client:
        key = stepped_up(client, lambda: client.service_accounts.create_key(account_id, new))
    context.output.result(msgspec.to_builtins(key), key.key)


@service_accounts.command("keys")
@click.argument("account_id", metavar="ID")
@click.pass_obj
def keys(context: Context, account_id: str) -> None:
    """List the access keys of a service account."""
    with context.login.client() as client:
        for key in client.service_accounts.keys(account_id):
            _print_key(context.output, key)


@service_accounts.command("revoke-key")
@click.argument("account_id", metavar="ID")
@click.argument("key_id", metavar="KEY")
@click.pass_obj
def revoke_key(context: Context, account_id: str, key_id: str) -> None:
    """Revoke an access key by its id."""
    with context.login.client() as client:
        stepped_up(client, lambda: client.service_accounts.revoke_key(account_id, key_id))
    context.output.result({"id": key_id}, f"Revoked {key_id}.")


def _print_account(output: Output, account: ServiceAccount) -> None:
    output.result(msgspec.to_builtins(account), f"{account.id}  {account.name}")


def _print_key(output: Output, key: AccessKey) -> None:
    scopes = ",".join(key.scopes)
    line = f"{key.id}  until {key.expires_at.astimezone():%Y-%m-%d}  {scopes}  {key.name}"
    output.result(msgspec.to_builtins(key), line)
