"""``strongroom keys``: manages signing and master keys, without ever printing them."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from strongroom.activity.audit.service import AuditEvent
from strongroom.cli.context import CommandContext, config_option
from strongroom.cli.output import echo
from strongroom.clock import SystemClock, iso_format
from strongroom.foundation.caller import Origin
from strongroom.foundation.database.installation import adopt_secret
from strongroom.foundation.secret_keys import create_private_file
from strongroom.identity.sessions.signing_keys import (
    ALGORITHMS,
    KeyRing,
    KeyRingError,
    created_at,
    key_algorithm,
    load_keys,
    prune,
    rotate,
)
from strongroom.plugin_api.keys import KeyProviderError
from strongroom.plugin_api.storage import StorageError, WrappedKeys


@click.group("keys")
def keys_group() -> None:
    """Manage the keys that sign access tokens, and the master keys."""


@keys_group.command("list")
@config_option
@click.pass_obj
def list_command(context: CommandContext) -> None:
    """List the keys. The first one of tokens.algorithm signs; the others only verify older tokens.

    If an enabled plugin signs statements for other services, the first key of RS256 signs those.
    """
    settings = context.configuration.settings
    with _explained():
        _show(context, load_keys(settings.keys_path, settings.tokens.algorithm))


@keys_group.command("rotate")
@config_option
@click.option(
    "--prune", "and_prune", is_flag=True, help="Also remove keys whose last token has expired."
)
@click.option(
    "--algorithm",
    type=click.Choice(sorted(ALGORITHMS.values())),
    help="The algorithm of the new key, before tokens.algorithm is changed to it. "
    "[default: tokens.algorithm]",
)
@click.pass_obj
def rotate_command(context: CommandContext, *, and_prune: bool, algorithm: str | None) -> None:
    """Add a new signing key; tokens that older keys have signed stay valid.

    Running servers reload the changed file automatically. If the file is missing, it is created.
    """
    settings = context.configuration.settings
    path, now = settings.keys_path, SystemClock().now()
    algorithm, added = settings.tokens.algorithm, algorithm or settings.tokens.algorithm
    with _explained():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        rotate(path, added, now)
        if and_prune:
            lifetime, signs = settings.tokens.lifetime_seconds * 1000, _signs_statements(context)
            for key in prune(path, algorithm, now, lifetime, has_statements=signs):
                echo(f"{key.kid} removed")
        _show(context, load_keys(path, algorithm))


@click.command("adopt-secret")
@config_option
@click.confirmation_option(
    prompt="Passwords, codes and links created with the old secret key become invalid. Continue?"
)
@click.pass_obj
def adopt_secret_command(context: CommandContext) -> None:
    """Accept the configured server.secret_key as the secret key of this database.

    Every password, refresh token, verification code, invitation and upload link created with the old
    secret key becomes invalid, so all users, including administrators, have to reset their passwords.
    If the old secret key still exists, configure it instead. Stop all servers first.
    """
    from strongroom.activity.audit.service import AuditService

    with context.container(any_secret=True) as container:
        adopt_secret(container.database, container.base.keys.fingerprint)
        with container.database.write() as connection:
            event = AuditEvent("secret.adopt", origin=Origin(user_agent="command line"))
            container.get(AuditService).record(connection, event)
    echo("the configured secret key is the database's from now on")


@keys_group.command("create-master-key")
@config_option
@click.pass_obj
def create_master_key_command(context: CommandContext) -> None:
    """Create the file of the key provider `file`, with a first master key.

    Back the file up, apart from the backups of the files: without it, encrypted storages cannot be read.
    An existing file is never replaced.
    """
    from strongroom.builtin.key_file import KeyFileProvider, create_key_file
    from strongroom.foundation.plugins.selection import select

    choice = select(context.configuration).keys
    if choice.extension is not KeyFileProvider:
        raise click.UsageError(f'the key provider "{choice.extension.name}" has no file')
    path = choice.options.path
    try:
        key_id = create_key_file(path)
    except FileExistsError as error:
        raise click.ClickException(f"{path} exists; to add a key, use rotate-master-key") from error
    except OSError as error:
        raise click.ClickException(f"{path} cannot be created: {error.strerror}") from error
    echo(f"{key_id} created in {path}; back this file up")


@keys_group.command("rotate-master-key")
@config_option
@click.option(
    "--only-rewrap", is_flag=True, help="Create no key; wrap all keys with the current one again."
)
@click.pass_obj
def rotate_master_key_command(context: CommandContext, *, only_rewrap: bool) -> None:
    """Create a new master key, and wrap the keys of all storages with it; no file is rewritten.

    Safe while servers run. After an interruption, continue with --only-rewrap. The former master key is
    needed until the command has succeeded, and to restore older backups of a store.
    """
    from strongroom.content.storage.service import BlobService

    with context.owning_container() as container:
        try:
            if not only_rewrap:
                echo(f"{container.base.key_provider.rotate()} is the current master key")
            for name, store in container.get(BlobService).storages.items():
                if keyring := store.capability(WrappedKeys):
                    echo(f"{name}: {keyring.rewrap()} keys wrapped again")
        except (KeyProviderError, StorageError) as error:
            message = f"{error}; run the command again with --only-rewrap"
            raise click.ClickException(message) from error


@click.command("export-tenant-key")
@config_option
@click.argument("storage")
@click.argument("tenant_id", required=False)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    help="The file to write; it must not exist, and is readable only by its owner.",
)
@click.pass_obj
def export_tenant_key_command(
    context: CommandContext, storage: str, tenant_id: str | None, output: Path
) -> None:
    """Write the keys of a tenant in a storage to a file, to read its objects without Strongroom.

    Without TENANT_ID, export the keys of files that belong to no tenant. The storage defines the format;
    encrypted storages write identities of age.
    """
    from strongroom.content.storage.service import BlobService

    if output.exists():
        raise click.UsageError(f"{output} exists")
    with context.container() as container:
        store = container.get(BlobService).storages.get(storage)
        keyring = store.capability(WrappedKeys) if store else None
        if keyring is None:
            raise click.UsageError(f"[storages.{storage}] has no keys")
        try:
            text = keyring.export_keys(tenant_id)
        except StorageError as error:
            raise click.ClickException(str(error)) from error
    if not text:
        raise click.ClickException("it has no key in this storage")
    create_private_file(output, text)


def _signs_statements(context: CommandContext) -> bool:
    from strongroom.foundation.plugins.selection import select

    return bool(select(context.configuration).plugins.token_types)


def _show(context: CommandContext, ring: KeyRing) -> None:
    signing = [ring.signing_key, *([ring.statement_key()] if _signs_statements(context) else [])]
    for key in ring.keys:
        made = created_at(key)
        moment = "-" if made is None else iso_format(made * 1000)
        duty = "signs" if key in signing else "verifies"
        echo(f"{key.kid}  {key_algorithm(key)}  {moment}  {duty}")


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (KeyRingError, OSError) as error:
        raise click.ClickException(str(error)) from error
