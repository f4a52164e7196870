"""``strongroom users`` and ``tenants``: administer them without a token."""

import json
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import click

from strongroom.accounts.first_administrator import AdministratorExists
from strongroom.accounts.registration import Registration
from strongroom.cli.context import CommandContext
from strongroom.clock import iso_format
from strongroom.errors import NotFound, StrongroomError
from strongroom.identity import Origin
from strongroom.users.models import User, UserType

if TYPE_CHECKING:
    from strongroom.container.services import Container


@dataclass(frozen=True, slots=True)
class ShownLink:
    """A setup link. ``expires_at`` is in milliseconds since the Unix epoch."""

    url: str = field(repr=False)
    expires_at: int


def make_setup_link(container: "Container") -> ShownLink:
    """Create a setup link.

    Raises:
        AdministratorExists: the server already has an administrator.
    """
    settings = container.settings
    link = container.identity.setup.issue(Origin(user_agent="command line"))
    # Browsers do not send the fragment, so the token appears in no log of a server or proxy.
    url = f"{settings.public_root}{settings.server.base_path}/setup#{link.token}"
    return ShownLink(url, link.expires_at)


COMMAND_LINE: Final = Origin(user_agent="command line")


@click.group("users")
def users_group() -> None:
    """Create users, invite the first administrator, end logins, and reset second factors."""


@users_group.command("create")
@click.option("--email", help="The e-mail address for login.")
@click.option("--mobile", help="The mobile number for login.")
@click.option("--username", help="The username for login.")
@click.option("--name", default="", help="The display name of the user.")
@click.option("--admin", is_flag=True, help="Make the user an administrator of the server.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option("--json", "as_json", is_flag=True, help="Print the user as JSON.")
@click.pass_obj
def create(
    context: CommandContext,
    email: str | None,
    mobile: str | None,
    username: str | None,
    name: str,
    *,
    admin: bool,
    password_stdin: bool,
    as_json: bool,
) -> None:
    """Create a user; the given credentials count as verified."""
    registration = Registration(
        name=name,
        password="",
        email=email,
        mobile=mobile,
        username=username,
        kind=UserType.ADMIN if admin else UserType.USER,
    )
    with context.container() as container:
        registrations = container.identity.registration
        try:
            # Checked before the prompt, so that no password is typed in vain.
            registrations.require_available(registration)
            password = _read_password(from_stdin=password_stdin)
            user = registrations.create(replace(registration, password=password), COMMAND_LINE)
        except StrongroomError as error:
            raise click.ClickException(_explain(error)) from error
    click.echo(json.dumps(_present(user), ensure_ascii=False) if as_json else f"{user.id} {user.name}")


@users_group.command("invite-admin")
@click.option("--json", "as_json", is_flag=True, help="Print the link as JSON.")
@click.pass_obj
def invite_admin(context: CommandContext, *, as_json: bool) -> None:
    """Print a link that creates the first administrator.

    The link is secret, single-use and valid for an hour. It replaces the previous link.
    """
    with context.container() as container:
        try:
            link = make_setup_link(container)
        except AdministratorExists as error:
            message = "there is an administrator already; for another: strongroom users create --admin"
            raise click.ClickException(message) from error
    expires_at = iso_format(link.expires_at)
    click.echo(json.dumps({"url": link.url, "expiresAt": expires_at}) if as_json else link.url)


@users_group.command("end-sessions")
@click.option("--all", "every", is_flag=True, help="End the logins of all users.")
@click.option("--user", "user_id", metavar="ID", help="End the logins of one user.")
@click.pass_obj
def end_sessions(context: CommandContext, user_id: str | None, *, every: bool) -> None:
    """End logins immediately: all their access and refresh tokens are revoked.

    Running servers need no restart. Users have to log in again. The audit log records the operation.
    """
    if every == (user_id is not None):
        raise click.UsageError("give either --all or --user ID")
    with context.container() as container:
        try:
            count = container.identity.authorizations.end_sessions(user_id, COMMAND_LINE)
        except NotFound as error:
            raise click.ClickException(f"the user {user_id} does not exist") from error
    click.echo(f"{count} logins ended")


@users_group.command("reset-factors")
@click.argument("user_id", metavar="USER")
@click.pass_obj
def reset_factors(context: CommandContext, user_id: str) -> None:
    """Remove all second factors of a user who has lost them, and end the user's logins.

    USER is the user's id. Verify who requests it: from now on the first proof alone logs in.
    """
    with context.container() as container:
        try:
            count = container.identity.second_factors.reset(None, user_id, COMMAND_LINE)
        except NotFound as error:
            raise click.ClickException(f"the user {user_id} does not exist") from error
    click.echo(f"{count} second factors removed")


def _read_password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    return password


def _explain(error: StrongroomError) -> str:
    return "; ".join(f"{item.field}: {item.message}" for item in error.details) or str(error)


def _present(user: User) -> dict[str, str | int]:
    return {"id": user.id, "type": user.type, "name": user.name, "revision": user.revision}


@click.group("tenants")
def tenants_group() -> None:
    """List and restore deleted tenants."""


@tenants_group.command("deleted")
@click.pass_obj
def deleted(context: CommandContext) -> None:
    """List the deleted tenants that can be restored.

    Each line has the id of the tenant, the times of its deletion and its purge, and its name.
    """
    with context.container() as container:
        for tenant in container.keeping.tenant_deletion.deleted():
            times = f"{iso_format(tenant.deleted_at)} {iso_format(tenant.purged_from)}"
            click.echo(f"{tenant.id} {times} {tenant.name}")


@tenants_group.command("restore")
@click.argument("tenant_id")
@click.pass_obj
def restore(context: CommandContext, tenant_id: str) -> None:
    """Restore a deleted tenant with its members, files and grants."""
    with context.container() as container:
        try:
            container.keeping.tenant_deletion.restore(tenant_id, Origin(user_agent="command line"))
        except NotFound as error:
            raise click.ClickException(f"No deleted tenant {tenant_id} can be restored.") from error
    click.echo(f"{tenant_id} restored")
