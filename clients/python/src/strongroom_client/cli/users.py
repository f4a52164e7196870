"""The commands ``strongroom-client users``, of administrators."""

import shutil
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeVar, get_args

import click
import msgspec

from .._sync.client import Client
from .._sync.users import ContactKind
from ..models import NewUser, PasswordLink, User, UserImport
from ..operations import UNSET, Unset
from .context import Context, secret, stepped_up
from .output import Output
from .processes import run_with
from .remote import is_id
from .stored_login import KEY_VARIABLE, URL_VARIABLE
from .user_exports import export_users

Result = TypeVar("Result")

_ORDERS: Final = tuple(
    sign + name for name in ("name", "createdAt", "lastLoginAt") for sign in ("", "-")
)


class MissingUser(click.ClickException):
    """A user does not exist."""

    exit_code = 4


@click.group()
def users() -> None:
    """Users of a server, for its administrators.

    USER is an id, an e-mail address, a mobile number such as +8613800138000, or a username.
    """


users.add_command(export_users)


@users.command("list")
@click.option("--search", help="A part of a name or of a contact.")
@click.option("--status", type=click.Choice(["active", "suspended"]))
@click.option("--type", "type_", type=click.Choice(["USER", "ADMIN", "SERVICE"]))
@click.option("--external-id", help="The id in another system.")
@click.option("--sort", type=click.Choice(_ORDERS), help="The order; - descends.")
@click.option("--limit", type=click.IntRange(1), help="Print so many users at most.")
@click.pass_obj
def list_users(
    context: Context,
    search: str | None,
    status: Any,
    type_: Any,
    external_id: str | None,
    sort: Any,
    limit: int | None,
) -> None:
    """List users."""
    with context.login.client() as client:
        matching = client.users.iterate(
            q=_or_unset(search),
            status=_or_unset(status),
            type_=_or_unset(type_),
            external_id=_or_unset(external_id),
            sort=_or_unset(sort),
        )
        for user in islice(matching, limit):
            print_user(context.output, user)


@users.command("show")
@click.argument("user")
@click.pass_obj
def show(context: Context, user: str) -> None:
    """Show a user."""
    with context.login.client() as client:
        print_user(context.output, find_user(client, user))


@users.command("create")
@click.option("--name", required=True, help="The display name.")
@click.option("--email", help="The e-mail address for login.")
@click.option("--mobile", help="The mobile number for login.")
@click.option("--username", help="The username for login.")
@click.option("--verified", is_flag=True, help="The e-mail address and the mobile number are proven.")
@click.option("--external-id", help="The id in another system.")
@click.option("--password", "has_password", is_flag=True, help="Prompt for a password.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the password from stdin.")
@click.option(
    "--password-hash-stdin",
    "has_hash",
    is_flag=True,
    help="Read the JSON of a password hash of another system from stdin.",
)
@click.option("--change-password", is_flag=True, help="The next login must change the password.")
@click.pass_obj
def create(
    context: Context,
    name: str,
    email: str | None,
    mobile: str | None,
    username: str | None,
    external_id: str | None,
    *,
    verified: bool,
    has_password: bool,
    from_stdin: bool,
    has_hash: bool,
    change_password: bool,
) -> None:
    """Create a user, and print it. Without a password, the user needs a link or a code."""
    if has_hash and (has_password or from_stdin):
        raise click.UsageError("A user has a password or the hash of one, not both.")
    password = secret("Password", from_stdin=from_stdin) if has_password or from_stdin else None
    new = NewUser(
        name=name,
        email=_or_unset(email),
        mobile=_or_unset(mobile),
        username=_or_unset(username),
        email_verified=verified and email is not None,
        mobile_verified=verified and mobile is not None,
        external_id=_or_unset(external_id),
        password=_or_unset(password),
        password_hash=_json_of_stdin() if has_hash else UNSET,
        password_change_required=change_password,
    )
    with context.login.client() as client:
        print_user(context.output, stepped_up(client, lambda: client.users.create(new)))


@users.command("suspend")
@click.argument("user")
@click.option("--reason", help="Only administrators see it.")
@click.option("--days", type=click.IntRange(1), help="Days until the suspension ends.")
@click.pass_obj
def suspend(context: Context, user: str, reason: str | None, days: int | None) -> None:
    """Suspend a user, whose logins, access keys and links end at once."""
    until = None if days is None else datetime.now(UTC) + timedelta(days=days)
    with context.login.client() as client:
        user_id = find_user(client, user).id

        def suspended() -> User:
            return client.users.suspend(user_id, reason=reason, until=until)

        print_user(context.output, stepped_up(client, suspended))


@users.command("reinstate")
@click.argument("user")
@click.pass_obj
def reinstate(context: Context, user: str) -> None:
    """End the suspension of a user."""
    with context.login.client() as client:
        user_id = find_user(client, user).id
        print_user(context.output, stepped_up(client, lambda: client.users.reinstate(user_id)))


@users.command("end-logins")
@click.argument("user")
@click.pass_obj
def end_logins(context: Context, user: str) -> None:
    """End all logins of a user, who may log in again."""
    with context.login.client() as client:
        user_id = find_user(client, user).id
        stepped_up(client, lambda: client.users.end_logins(user_id))
    context.output.result({"id": user_id}, f"Ended the logins of {user_id}.")


@users.command("impersonate")
@click.argument("user")
@click.option("--reason", required=True, help="For the audit log.")
@click.option("--minutes", type=click.IntRange(1, 60), default=15, show_default=True)
@click.argument("command", nargs=-1, required=True)
@click.pass_obj
def impersonate(
    context: Context, user: str, reason: str, minutes: int, command: tuple[str, ...]
) -> None:
    """Run a command that reads as USER, who sees it in the list of logins.

    COMMAND has STRONGROOM_URL and STRONGROOM_KEY in its environment, as strongroom-client itself takes
    them; write -- before it. The impersonation ends with the command, whose exit status is kept.
    """
    if shutil.which(command[0]) is None:
        raise click.UsageError(f"There is no command {command[0]}.")
    server = context.login.server()
    with context.login.client(server) as client:
        user_id = find_user(client, user).id
        begun = stepped_up(client, lambda: client.impersonate(user_id, reason, minutes=minutes))
        with begun:
            status = run_with({URL_VARIABLE: server.url, KEY_VARIABLE: begun.access_token}, command)
    raise click.exceptions.Exit(status)


@users.command("import")
@click.argument("path", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dry-run", is_flag=True, help="Report what would happen, and change nothing.")
@click.option(
    "--on-conflict",
    type=click.Choice(["fail", "skip", "update"]),
    default="fail",
    show_default=True,
    help="What happens to users who exist.",
)
@click.pass_obj
def import_users(context: Context, path: Path, on_conflict: Any, *, dry_run: bool) -> None:
    """Import the users of a file of JSON lines, and wait for the end.

    Refused lines are printed to stderr. The exit status is 1 if there are any.
    """
    with context.login.client() as client:
        imports = client.user_imports

        def started() -> UserImport:
            return imports.create(path, dry_run=dry_run, on_conflict=on_conflict)

        job = imports.wait(stepped_up(client, started).id, progress=_report_of(context.output))
        for error in imports.errors(job.id):
            context.output.note(f"line {error.line}: {error.field or error.code}: {error.message}")
    counts = f"created {job.created}, updated {job.updated}, skipped {job.skipped}, failed {job.failed}"
    context.output.result(msgspec.to_builtins(job), counts)
    if job.failed:
        raise click.exceptions.Exit(1)


@users.command("set-contact")
@click.argument("user")
@click.argument("kind", type=click.Choice(get_args(ContactKind)))
@click.argument("value")
@click.option("--verified", is_flag=True, help="The contact is proven.")
@click.pass_obj
def set_contact(context: Context, user: str, kind: Any, value: str, *, verified: bool) -> None:
    """Replace the e-mail address, the mobile number or the username of a user."""
    with context.login.client() as client:
        user_id = find_user(client, user).id
        stepped_up(client, lambda: client.users.set_contact(user_id, kind, value, verified=verified))
        print_user(context.output, client.users.get(user_id))


@users.command("remove-contact")
@click.argument("user")
@click.argument("kind", type=click.Choice(get_args(ContactKind)))
@click.pass_obj
def remove_contact(context: Context, user: str, kind: Any) -> None:
    """Remove the e-mail address, the mobile number or the username of a user."""
    with context.login.client() as client:
        user_id = find_user(client, user).id
        stepped_up(client, lambda: client.users.remove_contact(user_id, kind))
        print_user(context.output, client.users.get(user_id))


@users.command("temporary-password")
@click.argument("user")
@click.pass_obj
def temporary_password(context: Context, user: str) -> None:
    """Replace the password of a user, and print the temporary one; it is not shown again."""
    with context.login.client() as client:
        user_id = find_user(client, user).id
        given = stepped_up(client, lambda: client.users.give_temporary_password(user_id))
    context.output.result(msgspec.to_builtins(given), given.password)


@users.command("link")
@click.argument("user")
@click.option("--kind", type=click.Choice(["invite", "reset"]), default="invite", show_default=True)
@click.option("--print", "is_printed", is_flag=True, help="Print the link instead of sending it.")
@click.pass_obj
def link(context: Context, user: str, kind: Any, *, is_printed: bool) -> None:
    """Send a user a link to choose a password: an invitation for 7 days, or a reset for a day."""
    with context.login.client() as client:
        user_id = find_user(client, user).id

        def created() -> PasswordLink:
            return client.users.create_link(user_id, kind, send=not is_printed)

        issued = stepped_up(client, created)
    line = (
        issued.url
        if is_printed
        else f"Sent; valid until {issued.expires_at.astimezone():%Y-%m-%d %H:%M}."
    )
    context.output.result(msgspec.to_builtins(issued), str(line))


@users.command("metadata")
@click.argument("user")
@click.option("--server", "is_server", is_flag=True, help="The object that only administrators see.")
@click.option("--merge", "is_merged", is_flag=True, help="Merge the JSON object on stdin (RFC 7396).")
@click.pass_obj
def metadata(context: Context, user: str, *, is_server: bool, is_merged: bool) -> None:
    """Print the JSON object about a user, or merge another one into it."""
    changes = _json_of_stdin() if is_merged else None
    with context.login.client() as client:
        user_id, manager = find_user(client, user).id, client.users
        if changes is None:
            read = manager.server_metadata if is_server else manager.metadata
            values = read(user_id)
        else:
            merge = manager.change_server_metadata if is_server else manager.change_metadata
            values = stepped_up(client, lambda: merge(user_id, changes))
    context.output.result(values, msgspec.json.encode(values).decode())


@users.command("delete")
@click.argument("user")
@click.confirmation_option(prompt="Delete the user?")
@click.pass_obj
def delete(context: Context, user: str) -> None:
    """Delete a user. Files stay with their tenants; personal data are erased later."""
    with context.login.client() as client:
        user_id = find_user(client, user).id
        stepped_up(client, lambda: client.users.delete(user_id))
    context.output.result({"id": user_id}, f"Deleted {user_id}.")


def find_user(client: Client, text: str) -> User:
    """Return a user by an id, an e-mail address, a mobile number or a username.

    Raises:
        MissingUser: there is none.
    """
    if text == "me" or is_id(text):
        return client.users.get(text)
    user = client.users.find(text)
    if user is None:
        raise MissingUser(f"There is no user {text}.")
    return user


def print_user(output: Output, user: User) -> None:
    """Print a user: as JSON, all fields."""
    values: Mapping[str, Any] = msgspec.to_builtins(user)
    name = user.email or user.mobile or user.username or ""
    output.result(values, f"{user.id}  {user.status:9}  {user.type_:7}  {name:30}  {user.name}")


def _json_of_stdin() -> dict[str, Any]:
    try:
        return msgspec.json.decode(sys.stdin.buffer.read(), type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise click.UsageError(f"stdin is not a JSON object: {error}") from error


def _or_unset(value: Result | None) -> Result | Unset:
    return UNSET if value is None else value


def _report_of(output: Output) -> Callable[[UserImport], None] | None:
    """Return what prints the progress of an import on a terminal."""
    if not sys.stderr.isatty():
        return None
    return lambda job: output.note(f"{job.read} of {job.lines} lines")
