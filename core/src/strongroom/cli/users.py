"""``strongroom users`` and ``tenants``: administer them without a token."""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import click

from strongroom.cli.context import CommandContext
from strongroom.cli.output import echo, echo_json
from strongroom.cli.range_runs import RunOptions, run_options, run_task
from strongroom.cli.refusals import refusal
from strongroom.cli.user_exports import export_users
from strongroom.cli.user_imports import convert_users, import_users
from strongroom.clock import iso_format
from strongroom.extensions.first_start.first_administrator import AdministratorExists
from strongroom.foundation.caller import Origin
from strongroom.foundation.database.paging import Paging
from strongroom.foundation.database.range_work import RangeTask
from strongroom.foundation.errors import NotFound, StrongroomError
from strongroom.identity.accounts.registration import Registration
from strongroom.identity.users.factor_policy import FactorState
from strongroom.identity.users.models import User, UserType
from strongroom.plugin_api.factors import factor_kind
from strongroom.plugin_api.password_schemes import HashRejected

if TYPE_CHECKING:
    from strongroom.assembly.container import Container


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
    from strongroom.extensions.first_start.first_administrator import Setup

    settings = container.settings
    link = container.get(Setup).issue(Origin(user_agent="command line"))
    # Browsers do not send the fragment, so the token appears in no log of a server or proxy.
    url = f"{settings.public_root}{settings.server.base_path}/setup#{link.token}"
    return ShownLink(url, link.expires_at)


COMMAND_LINE: Final = Origin(user_agent="command line")
_AT_ONCE: Final = 100
_MAX_HASH: Final = 64 * 1024


@click.group("users")
def users_group() -> None:
    """Create, import and export users, invite the first administrator, end logins."""


@users_group.command("create")
@click.option("--email", help="The e-mail address for login.")
@click.option("--mobile", help="The mobile number for login.")
@click.option("--username", help="The username for login.")
@click.option("--name", default="", help="The display name of the user.")
@click.option("--admin", is_flag=True, help="Make the user an administrator of the server.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@click.option(
    "--password-hash-stdin",
    is_flag=True,
    help="Read the JSON of a password hash of another system from standard input.",
)
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
    password_hash_stdin: bool,
    as_json: bool,
) -> None:
    """Create a user; the given credentials count as verified."""
    from strongroom.identity.accounts.registration import RegistrationService

    registration = Registration(
        name=name,
        password="",
        email=email,
        mobile=mobile,
        username=username,
        kind=UserType.ADMIN if admin else UserType.USER,
    )
    with context.container() as container:
        registrations = container.get(RegistrationService)
        try:
            # Checked before the prompt, so that no password is typed in vain.
            registrations.require_available(registration)
            if password_hash_stdin:
                registration = replace(registration, described_hash=_read_hash())
            else:
                password = _read_password(from_stdin=password_stdin)
                registration = replace(registration, password=password)
            user = registrations.create(registration, COMMAND_LINE)
        except HashRejected as error:
            raise click.ClickException(f"the password hash is refused: {error}") from error
        except StrongroomError as error:
            raise refusal(error, container.base.translations) from error
    if as_json:
        echo_json(_serialize(user))
    else:
        echo(f"{user.id} {user.name}")


users_group.add_command(import_users)
users_group.add_command(convert_users)
users_group.add_command(export_users)


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
    echo(json.dumps({"url": link.url, "expiresAt": expires_at}) if as_json else link.url)


@users_group.command("end-sessions")
@click.option("--all", "every", is_flag=True, help="End the logins of all users.")
@click.option("--user", "user_id", metavar="ID", help="End the logins of one user.")
@click.pass_obj
def end_sessions(context: CommandContext, user_id: str | None, *, every: bool) -> None:
    """End logins immediately: all their access and refresh tokens are revoked.

    Running servers need no restart. Users have to log in again. The audit log records the operation.
    """
    from strongroom.identity.sessions.service import AuthorizationService

    if every == (user_id is not None):
        raise click.UsageError("give either --all or --user ID")
    with context.container() as container:
        try:
            count = container.get(AuthorizationService).end_sessions(user_id, COMMAND_LINE)
        except NotFound as error:
            raise click.ClickException(f"the user {user_id} does not exist") from error
    echo(f"{count} logins ended")


@users_group.command("reset-factors")
@click.argument("user_id", metavar="USER")
@click.pass_obj
def reset_factors(context: CommandContext, user_id: str) -> None:
    """Remove all second factors of a user who has lost them, and end the user's logins.

    USER is the user's id. Verify who requests it: from now on the first proof alone logs in.
    """
    from strongroom.identity.accounts.factor_changes import FactorChanges

    with context.container() as container:
        try:
            count = container.get(FactorChanges).reset(None, user_id, COMMAND_LINE)
        except NotFound as error:
            raise click.ClickException(f"the user {user_id} does not exist") from error
    echo(f"{count} second factors removed")


@users_group.command("reindex")
@run_options
@click.pass_obj
def reindex_users(context: CommandContext, options: RunOptions) -> None:
    """Correct the index of searches for users; safe while servers run.

    Run it after an upgrade that was rolled out server by server. `strongroom doctor` reports missing
    users. A run that was stopped or killed is continued.
    """
    with context.container() as container:
        _, progress = run_task(context, container, _reindexing, options, "Indexing")
    echo(f"{progress.hits} users corrected")


def _reindexing(container: "Container") -> RangeTask:
    from strongroom.identity.users.user_reindexing import UserReindexing

    return container.get(UserReindexing).task


@users_group.command("factors")
@click.option("--missing", is_flag=True, help="Only users who must have a second factor and have none.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object per user.")
@click.pass_obj
def list_factors(context: CommandContext, *, missing: bool, as_json: bool) -> None:
    """List the users with their second factors, oldest first.

    A line has the user's id, type and name, the types of the factors, and whether one is required. The
    time is until when the user may log in without one, if that period has current.
    """
    with context.container() as container:
        for state in _factor_states(container, only_missing=missing):
            echo(json.dumps(_serialize_factors(state)) if as_json else _factors_line(state))


def _factor_states(container: "Container", *, only_missing: bool) -> Iterator[FactorState]:
    from strongroom.identity.accounts.factor_reports import FactorReports

    number, service = 1, container.get(FactorReports)
    while True:
        page = service.report(Paging(number, _AT_ONCE), only_missing=only_missing)
        yield from page.items
        if number * _AT_ONCE >= page.total:
            return
        number += 1


def _serialize_factors(state: FactorState) -> dict[str, object]:
    return {
        "id": state.user_id,
        "type": state.type,
        "name": state.name,
        "factors": [factor_kind(name) for name in state.factors],
        "isRequired": state.is_required,
        "dueAt": None if state.due_at is None else iso_format(state.due_at),
    }


def _factors_line(state: FactorState) -> str:
    factors = ", ".join(map(factor_kind, state.factors)) or "none"
    required = "required" if state.is_required else "optional"
    due = "" if state.due_at is None else f" by {iso_format(state.due_at)}"
    return f"{state.user_id}  {state.type:5}  {factors:24}  {required}{due}  {state.name}"


def _read_password(*, from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\r\n")
    password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True)
    return password


def _read_hash() -> dict[str, Any]:
    try:
        described = json.loads(sys.stdin.read(_MAX_HASH))
    except ValueError as error:
        raise click.ClickException("the password hash must be JSON") from error
    if not isinstance(described, dict):
        raise click.ClickException("the password hash must be a JSON object")
    return described


def _serialize(user: User) -> dict[str, str | int]:
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
    from strongroom.content.tenants.tenant_deletions import TenantDeletion

    with context.container() as container:
        for tenant in container.get(TenantDeletion).deleted():
            times = f"{iso_format(tenant.deleted_at)} {iso_format(tenant.purged_from)}"
            echo(f"{tenant.id} {times} {tenant.name}")


@tenants_group.command("restore")
@click.argument("tenant_id")
@click.pass_obj
def restore(context: CommandContext, tenant_id: str) -> None:
    """Restore a deleted tenant with its members, files and grants."""
    from strongroom.content.tenants.tenant_deletions import TenantDeletion

    with context.container() as container:
        try:
            container.get(TenantDeletion).restore(tenant_id, Origin(user_agent="command line"))
        except NotFound as error:
            raise click.ClickException(f"No deleted tenant {tenant_id} can be restored.") from error
    echo(f"{tenant_id} restored")
