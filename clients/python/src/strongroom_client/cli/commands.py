"""The commands. The help of ``main`` has their exit statuses."""

import errno
import hashlib
import sys
import webbrowser
from collections.abc import Iterable, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, get_args

import click

from .._sync.client import Client
from ..api import search as api_search
from ..api import shares
from ..device_codes import DEFAULT_SCOPES, DeviceCodes
from ..errors import (
    ApiError,
    ConflictError,
    ConnectionFailed,
    ForbiddenError,
    NotFoundError,
    NotLoggedIn,
    RateLimitedError,
    ServerError,
    StrongroomError,
    UnauthorizedError,
)
from ..files import fitting_name
from ..models import NewShare, Node, Share, TrashedFile
from ..operations import UNSET
from ..transfers import OnConflict
from .comparison import StateFile
from .context import Context, prompt_factor, secret
from .output import Output, additions
from .remote import PAGE_SIZE, RemotePath, Tree, is_remote
from .service_accounts import service_accounts
from .stored_login import Server, StoredLogin
from .synchronization import Downwards, Upwards
from .uploads import Uploads
from .users import users
from .visible import visible

_STATUSES: Final[tuple[tuple[type[StrongroomError], int], ...]] = (
    (UnauthorizedError, 3),
    (NotLoggedIn, 3),
    (NotFoundError, 4),
    (ForbiddenError, 5),
    (ConflictError, 5),
    (ConnectionFailed, 6),
    (RateLimitedError, 6),
    (ServerError, 6),
    (StrongroomError, 1),
)


INTERRUPTED: Final = 130
"""128 and SIGINT, as shells report it."""

_RESUMED: Final = frozenset({"up", "down", "sync"})


class Failed(click.ClickException):
    """An error of the client, as a message and an exit status."""

    def __init__(self, error: StrongroomError, hint: str = "") -> None:
        is_broken = isinstance(error, ConnectionFailed | ServerError)
        super().__init__(f"{_explained(error)}{hint if is_broken else ''}")
        self._error = error

    @property
    def exit_code(self) -> int:  # type: ignore[override]  # a constant of the class in click
        """The exit status."""
        return next(status for kind, status in _STATUSES if isinstance(self._error, kind))


class Commands(click.Group):
    """Commands whose errors are translated to exit statuses."""

    def invoke(self, context: click.Context) -> Any:
        """Run a command, and translate the errors of the client."""
        try:
            return self._invoke(context)
        except click.ClickException as error:
            error.message = "\n".join(map(visible, error.message.split("\n")))  # type: ignore[misc]  # final for type checkers only
            raise

    def _invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except KeyboardInterrupt:
            click.echo(f"Interrupted.{_hint(context)}", err=True)
            raise click.exceptions.Exit(INTERRUPTED) from None
        except StrongroomError as error:
            raise Failed(error, _hint(context)) from error
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            named = "" if error.filename is None else f"{click.format_filename(error.filename)}: "
            raise click.ClickException(f"{named}{error.strerror or error}") from error


@click.group(cls=Commands)
@click.option("--json", "is_json", is_flag=True, help="Print each result as a line of JSON.")
@click.version_option(package_name="strongroom-client")
@click.pass_context
def main(context: click.Context, *, is_json: bool) -> None:
    """Files and users of a Strongroom server.

    Exit status: 3 without a valid login, 4 if something does not exist, 5 if the server refuses the
    change, 6 if it cannot be reached or is busy, 2 for a wrong command line, 130 after Ctrl-C, 1 for any
    other error.
    """
    output = Output(is_json=is_json)
    context.obj = Context(StoredLogin.of_user(output.waiting), output)


@main.command()
@click.argument("url")
@click.option("--username", help="A username, an e-mail address or a mobile number.")
@click.option("--key", "by_key", is_flag=True, help="Log in by an access key, srk_...")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read the password or the key from stdin.")
@click.option("--web", "by_browser", is_flag=True, help="Log in on the login page, in the browser.")
@click.option("--device", "by_device", is_flag=True, help="Log in by a code, in any browser.")
@click.option(
    "--scope", "scopes", multiple=True, help="With --device, what the login is for; repeatable."
)
@click.pass_obj
def login(
    context: Context,
    url: str,
    username: str | None,
    scopes: tuple[str, ...],
    *,
    by_key: bool,
    from_stdin: bool,
    by_browser: bool,
    by_device: bool,
) -> None:
    """Log in by a password, in a browser or by an access key, and store the login for later commands.

    With --web, the login page of the server offers all ways to log in, such as passkeys. It returns
    the login to this command, so the browser must be on this computer.

    With --device, it may be on any computer: the command prints a page and a code, which you enter
    there. The login is for files, shares and tenants, or for the scopes of --scope.

    The login is stored in the folder of the user's configuration, or in STRONGROOM_CLIENT_DIR, for the
    owner only. STRONGROOM_URL and STRONGROOM_KEY are used instead of it if both are set.

    A temporary password is replaced: by a prompt, or with --stdin by the second line.
    """
    if not url.startswith(("https://", "http://")):
        raise click.BadParameter(f"{url} is not a URL such as https://files.example.com")
    if scopes and not by_device:
        raise click.UsageError("--scope needs --device.")
    if by_device:
        if by_key or from_stdin or username or by_browser:
            raise click.UsageError("--device excludes --key, --stdin, --username and --web.")
        server = Server(url)
        with context.login.client(server) as client:
            client.log_in_by_device(
                partial(_show_codes, context.output), scopes=scopes or DEFAULT_SCOPES
            )
    elif by_browser:
        if by_key or from_stdin or username:
            raise click.UsageError("--web excludes --key, --stdin and --username.")
        server = Server(url)
        with context.login.client(server) as client:
            client.log_in_by_browser(_open_browser)
    elif by_key:
        server = Server(url, secret("Access key", from_stdin=from_stdin))
        # A key without the scope of the request is valid, too.
        with context.login.client(server) as client, suppress(ForbiddenError):
            next(client.tenants(), None)
        context.login.remove()
    else:
        server = Server(url)
        username = username or click.prompt("Username", err=True)
        password = secret("Password", from_stdin=from_stdin)
        with context.login.client(server, _show_captcha) as client:
            _log_in(client, username, password, from_stdin=from_stdin)
    context.login.store(server)
    context.output.result({"url": url}, f"Logged in to {url}.")


@main.command()
@click.pass_obj
def logout(context: Context) -> None:
    """End the login on the server, and remove it here. An access key remains valid."""
    server = context.login.server()
    try:
        if server.key is None:
            with context.login.client(server) as client:
                client.log_out()
    except (UnauthorizedError, NotLoggedIn):
        context.output.note("The login had already ended.")
    finally:
        context.login.remove()
    context.output.result({"url": server.url}, f"Logged out of {server.url}.")


@main.command()
@click.argument("path", required=False)
@click.pass_obj
def ls(context: Context, path: str | None) -> None:
    """List the tenants, or the files at TENANT:/path."""
    with context.login.client() as client:
        if path is None:
            for tenant in client.tenants():
                context.output.result({"id": tenant.id, "name": tenant.name}, f"{tenant.name}:")
            return
        remote = RemotePath.parse(path)
        tree = Tree.of(client, remote.tenant)
        node = tree.find(remote)
        for each in _shown(tree, node):
            _print_node(context.output, each)


@main.command()
@click.option("--create", "name", metavar="NAME", help="Create a tenant, and print it.")
@click.pass_obj
def tenants(context: Context, name: str | None) -> None:
    """List the tenants with their ids, or create one."""
    with context.login.client() as client:
        for each in client.tenants() if name is None else [client.create_tenant(name)]:
            context.output.result({"id": each.id, "name": each.name}, f"{each.id}  {each.name}")


@main.command()
@click.option(
    "-p", "--parents", is_flag=True, help="Create missing parents; an existing folder is fine."
)
@click.argument("path")
@click.pass_obj
def mkdir(context: Context, path: str, *, parents: bool) -> None:
    """Create the folder TENANT:/path."""
    remote = RemotePath.parse(path)
    if not remote.parts:
        raise click.BadParameter(f"{path} names no folder")
    with context.login.client() as client:
        tree = Tree.of(client, remote.tenant)
        if parents:
            tree.make_folders(remote)
        else:
            tree.make_folder(tree.folder(remote.parent), remote.parts[-1])
    context.output.result({"path": str(remote)}, str(remote))


@main.command()
@click.argument("source")
@click.argument("target")
@click.pass_obj
def mv(context: Context, source: str, target: str) -> None:
    """Move or rename TENANT:/source. An existing folder as TARGET receives it."""
    before, after = _same_tenant(source, target)
    with context.login.client() as client:
        tree = Tree.of(client, before.tenant)
        node = tree.existing(before)
        parent, name = tree.destination(after, node.name)
        _print_node(context.output, client.move(tree.tenant_id, node.id, parent, name))


@main.command()
@click.argument("source")
@click.argument("target")
@click.option(
    "--on-conflict",
    type=click.Choice(get_args(OnConflict)),
    default="fail",
    show_default=True,
    help="What happens if the name is taken.",
)
@click.pass_obj
def cp(context: Context, source: str, target: str, on_conflict: OnConflict) -> None:
    """Copy TENANT:/source on the server. An existing folder as TARGET receives the copy.

    A folder is copied with up to 1,000 files and folders.
    """
    before, after = _same_tenant(source, target)
    with context.login.client() as client:
        tree = Tree.of(client, before.tenant)
        node = tree.existing(before)
        parent, name = tree.destination(after, node.name)
        copy = client.copy(tree.tenant_id, node.id, parent, name, on_conflict=on_conflict)
        _print_node(context.output, copy)


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.pass_obj
def cat(context: Context, paths: tuple[str, ...]) -> None:
    """Write the content of the files TENANT:/path to standard output.

    If a content is damaged, the exit status is 1, and it was written already.
    """
    stream = sys.stdout.buffer
    with context.login.client() as client:
        for remote in map(RemotePath.parse, paths):
            tree = Tree.of(client, remote.tenant)
            node = tree.existing(remote)
            if _is_folder(node):
                raise click.UsageError(f"{remote} is a folder.")
            for piece in client.stream(tree.tenant_id, node.id):
                stream.write(piece)
            stream.flush()


@main.command()
@click.argument("path")
@click.argument("text")
@click.option("--type", "type_", type=click.Choice(["file", "folder"]), help="Only files or folders.")
@click.pass_obj
def search(context: Context, path: str, text: str, type_: Literal["file", "folder"] | None) -> None:
    """Find files and folders whose name contains TEXT, in TENANT: or below the folder TENANT:/path.

    Case does not matter. At most 1,000 are found.
    """
    remote = RemotePath.parse(path)
    with context.login.client() as client:
        tree = Tree.of(client, remote.tenant)
        listing = api_search.search_files(
            tree.tenant_id,
            query=text,
            parent_id=tree.folder(remote) or UNSET,
            type_=type_ or UNSET,
            include="path",
            page_size=PAGE_SIZE,
        )
        for node in client.iterate(listing):
            _print_found(context.output, remote.tenant, node)


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--list", "is_list", is_flag=True, help="List the trash of TENANT: instead.")
@click.option("--to", "folder", metavar="TENANT:/FOLDER", help="Restore into this folder.")
@click.option(
    "--on-conflict",
    type=click.Choice(get_args(OnConflict)),
    default="fail",
    show_default=True,
    help="What happens if the name is taken.",
)
@click.pass_obj
def restore(
    context: Context,
    paths: tuple[str, ...],
    folder: str | None,
    on_conflict: OnConflict,
    *,
    is_list: bool,
) -> None:
    """Restore deleted files and folders from the trash.

    PATH is where something was, TENANT:/path, or TENANT:/ID with an id of --list. Of several with one
    path, the last deleted is restored.
    """
    for path in paths:
        remote, target = _same_tenant(path, folder or path)
        with context.login.client() as client:
            tree = Tree.of(client, remote.tenant)
            if is_list:
                for item in client.trash.iterate(tree.tenant_id):
                    _print_trashed(context.output, item)
                continue
            item = tree.trashed(remote)
            parent = UNSET if folder is None else tree.folder(target)
            node = client.trash.restore(
                tree.tenant_id, item.id, parent_id=parent, on_conflict=on_conflict
            )
            _print_node(context.output, node)


@main.command()
@click.option("-r", "--recursive", is_flag=True, help="Delete folders with their content, too.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.pass_obj
def rm(context: Context, paths: tuple[str, ...], *, recursive: bool) -> None:
    """Delete TENANT:/path. It goes to the trash of the server; see restore."""
    with context.login.client() as client:
        for remote in map(RemotePath.parse, paths):
            tree = Tree.of(client, remote.tenant)
            node = tree.existing(remote)
            if _is_folder(node) and not recursive:
                raise click.UsageError(f"{remote} is a folder; use --recursive.")
            client.delete(tree.tenant_id, node.id)
            context.output.result({"path": str(remote)}, f"deleted {remote}")


@main.command()
@click.argument("paths", nargs=-1, required=True, metavar="FILE...")
@click.argument("folder")
@click.option("-r", "--recursive", is_flag=True, help="Upload folders with their content, too.")
@click.option(
    "--on-conflict",
    type=click.Choice(get_args(OnConflict)),
    default="fail",
    show_default=True,
    help="What happens if the name of a file is taken.",
)
@click.pass_obj
def up(
    context: Context, paths: tuple[str, ...], folder: str, on_conflict: OnConflict, *, recursive: bool
) -> None:
    """Upload files to the folder TENANT:/path. An interrupted upload continues.

    Existing folders are used. Links in folders are left out.
    """
    target = RemotePath.parse(folder)
    for path in map(Path, paths):
        if path.is_dir() and not recursive:
            raise click.UsageError(f"{click.format_filename(path)} is a folder; use --recursive.")
    with context.login.client() as client:
        tree = Tree.of(client, target.tenant)
        work = Uploads(context.output, tree, on_conflict)
        parent = tree.folder(target)
        for path in map(Path, paths):
            for node in work.upload(path, parent):
                _print_node(context.output, node)


@main.command()
@click.argument("path")
@click.argument("target", type=click.Path(path_type=Path), default=".")
@click.pass_obj
def down(context: Context, path: str, target: Path) -> None:
    """Download the file TENANT:/path into a folder or to a name. An interrupted download continues."""
    remote = RemotePath.parse(path)
    with context.login.client() as client:
        tree = Tree.of(client, remote.tenant)
        node = tree.find(remote)
        if node is None or _is_folder(node):
            raise click.UsageError(f"{remote} is a folder; use sync.")
        local = target / fitting_name(node.name) if target.is_dir() else target
        with context.output.progress(node.name, node.size) as add:
            client.download(tree.tenant_id, node.id, local, progress=additions(add))
    context.output.result({"path": str(local), "size": node.size}, f"{local}, {node.size} bytes")


@main.command()
@click.argument("source")
@click.argument("target")
@click.option("--delete", "deletes", is_flag=True, help="Delete what the source does not have.")
@click.option("--full", "is_full", is_flag=True, help="List all folders, after permissions changed.")
@click.pass_obj
def sync(context: Context, source: str, target: str, *, deletes: bool, is_full: bool) -> None:
    """Make the folder TARGET equal to the folder SOURCE. One of them is local, the other TENANT:/path.

    Files are compared by checksum. If the changes feed of the tenant reports no change, the server's
    folders are not listed again. Files that are deleted on the server go to its trash. Links are left
    out. Files whose name the other side does not take are skipped and printed; the exit status is 1.
    """
    if is_remote(source) == is_remote(target):
        raise click.UsageError("One of SOURCE and TARGET must be local, and the other TENANT:/path.")
    upwards = is_remote(target)
    remote = RemotePath.parse(target if upwards else source)
    root = Path(source if upwards else target)
    with context.login.client() as client:
        tree = Tree.of(client, remote.tenant)
        folder = tree.make_folders(remote) if upwards else tree.folder(remote)
        state = StateFile(_state_path(context.login, remote, root))
        work = Upwards if upwards else Downwards
        work(context.output, tree, folder, root, state).run(deletes=deletes, is_full=is_full)


main.add_command(users)
main.add_command(service_accounts)


@main.group()
def share() -> None:
    """Share links, for servers with the plugin share_links."""


@share.command("create")
@click.argument("path")
@click.option(
    "--kind",
    type=click.Choice(["read", "preview", "drop", "write"]),
    default="read",
    show_default=True,
    help="What visitors may do.",
)
@click.option("--label", default="", help="A title for visitors.")
@click.option("--days", type=click.IntRange(1), help="Days until the link ends.")
@click.option("--max-downloads", type=click.IntRange(1), help="Downloads of all visitors together.")
@click.option("--password", "has_password", is_flag=True, help="Prompt for a password for visitors.")
@click.option("--stdin", "from_stdin", is_flag=True, help="Read that password from stdin.")
@click.pass_obj
def create_share(
    context: Context,
    path: str,
    kind: Any,
    label: str,
    days: int | None,
    max_downloads: int | None,
    *,
    has_password: bool,
    from_stdin: bool,
) -> None:
    """Share the file or folder TENANT:/path, and print the link."""
    remote = RemotePath.parse(path)
    body = NewShare(
        kind=kind,
        label=label,
        password=secret("Password", from_stdin=from_stdin) if has_password or from_stdin else UNSET,
        expires_at=UNSET if days is None else datetime.now(UTC) + timedelta(days=days),
        max_downloads=UNSET if max_downloads is None else max_downloads,
    )
    with context.login.client() as client:
        tree = Tree.of(client, remote.tenant)
        node = tree.find(remote)
        if node is None:
            raise click.UsageError("A tenant as a whole cannot be shared.")
        made = client.send(shares.create_share(tree.tenant_id, node.id, body=body))
    context.output.result(_share_values(made), str(made.url))


@share.command("list")
@click.argument("path")
@click.pass_obj
def list_shares(context: Context, path: str) -> None:
    """List the share links of TENANT: or of the file TENANT:/path."""
    remote = RemotePath.parse(path)
    with context.login.client() as client:
        tree = Tree.of(client, remote.tenant)
        node = tree.find(remote)
        if node is None:
            listing = shares.list_shares(tree.tenant_id, page_size=PAGE_SIZE)
        else:
            listing = shares.list_shares_of_file(tree.tenant_id, node.id, page_size=PAGE_SIZE)
        for each in client.iterate(listing):
            line = f"{each.id}  {each.kind:7}  {each.state:9}  {each.label}"
            context.output.result(_share_values(each), line.rstrip())


@share.command("revoke")
@click.argument("tenant")
@click.argument("share_id")
@click.pass_obj
def revoke_share(context: Context, tenant: str, share_id: str) -> None:
    """Delete a share link of TENANT: by its id."""
    with context.login.client() as client:
        tree = Tree.of(client, RemotePath.parse(tenant).tenant)
        client.send(shares.delete_share(tree.tenant_id, share_id))
    context.output.result({"id": share_id}, f"Revoked {share_id}.")


def _hint(context: click.Context) -> str:
    if context.invoked_subcommand not in _RESUMED:
        return ""
    return " Run the same command again to continue where it stopped."


def _state_path(login: StoredLogin, remote: RemotePath, root: Path) -> Path:
    """Return where the state of the synchronization of two folders is stored."""
    parts = (login.server().url, str(remote), str(root.resolve()))
    return login.folder / "syncs" / hashlib.sha256("\0".join(parts).encode()).hexdigest()


def _shown(tree: Tree, node: Node | None) -> Iterable[Node]:
    """Return what ``ls`` shows at a node: the content of a folder or of the top level, or a file."""
    if node is None:
        return tree.children(None)
    return tree.children(node.id) if _is_folder(node) else [node]


def _is_folder(node: Node | TrashedFile) -> bool:
    return node.type_ == "folder"


def _same_tenant(source: str, target: str) -> tuple[RemotePath, RemotePath]:
    before, after = RemotePath.parse(source), RemotePath.parse(target)
    if before.tenant != after.tenant:
        raise click.UsageError("Both paths must be of the same tenant.")
    return before, after


def _print_found(output: Output, tenant: str, node: Node) -> None:
    path = str(RemotePath(tenant, tuple(node.path or (node.name,))))
    values = {"id": node.id, "type": node.type_, "name": node.name, "size": node.size, "path": path}
    output.result(values, path + ("/" if _is_folder(node) else ""))


def _print_trashed(output: Output, item: TrashedFile) -> None:
    values = {"id": item.id, "type": item.type_, "name": item.name, "size": item.size}
    times = {"trashedAt": item.trashed_at.isoformat(), "purgeAt": item.purge_at.isoformat()}
    suffix = "/" if _is_folder(item) else ""
    deleted = f"{item.trashed_at.astimezone():%Y-%m-%d %H:%M}"
    output.result({**values, **times}, f"{item.id}  {item.size:>12}  {deleted}  {item.name}{suffix}")


def _print_node(output: Output, node: Node) -> None:
    values = {"id": node.id, "type": node.type_, "name": node.name, "size": node.size}
    times = {"checksum": node.checksum, "updatedAt": node.updated_at.isoformat()}
    suffix = "/" if _is_folder(node) else ""
    changed = f"{node.updated_at.astimezone():%Y-%m-%d %H:%M}"
    output.result({**values, **times}, f"{node.size:>12}  {changed}  {node.name}{suffix}")


def _share_values(share: Share) -> Mapping[str, Any]:
    expires_at = None if share.expires_at is None else share.expires_at.isoformat()
    values = {"id": share.id, "url": share.url, "kind": share.kind, "state": share.state}
    return {**values, "label": share.label, "fileId": share.file_id, "expiresAt": expires_at}


def _log_in(client: Client, username: str, password: str, *, from_stdin: bool) -> None:
    try:
        client.log_in(username, password, second_factor=prompt_factor)
    except ApiError as error:
        if error.code != "error.password-change-required":
            raise
        new_password = secret("New password", from_stdin=from_stdin)
        client.log_in(username, password, second_factor=prompt_factor, new_password=new_password)


def _show_codes(output: Output, codes: DeviceCodes) -> None:
    minutes = max(codes.expires_in // 60, 1)
    output.note(f"Open {codes.verification_uri} in a browser, and enter this code within {minutes} min:")
    output.note(f"    {codes.user_code}")


def _open_browser(url: str) -> None:
    # The address helps without a browser that Python finds.
    click.echo(f"Log in in the browser. If it does not open, visit {url}", err=True)
    webbrowser.open(url)


def _show_captcha(captcha: Mapping[str, Any]) -> str:
    """Show a captcha as text; pictures are for browsers."""
    question = captcha.get("question")
    if question is None or not sys.stdin.isatty():
        raise click.ClickException("The server requires a captcha; log in with --web, or later.")
    answer: str = click.prompt(str(question), err=True)
    return answer


def _explained(error: StrongroomError) -> str:
    if not isinstance(error, ApiError):
        return str(error)
    fields = "".join(f"\n  {detail.field}: {detail.message}" for detail in error.details)
    wait = "" if error.retry_after is None else f" Try again in {error.retry_after:.0f} s."
    return f"{error.message} ({error.code}){wait}{fields}"
