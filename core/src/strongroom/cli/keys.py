"""``strongroom keys``: the keys that sign access tokens, and the secret key. None is ever shown."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from strongroom.audit.service import AuditEvent
from strongroom.authorizations.key_file import prune, rotate
from strongroom.authorizations.keys import Key, KeyRingError, created_at, load_keys
from strongroom.cli.context import CommandContext, config_option
from strongroom.clock import SystemClock, iso_format
from strongroom.database.installation import adopt_secret
from strongroom.identity import Origin


@click.group("keys")
def keys_group() -> None:
    """Look after the keys that sign access tokens, and the secret key."""


@keys_group.command("list")
@config_option
@click.pass_obj
def list_command(context: CommandContext) -> None:
    """List the keys, the one that signs first; the others only verify what they signed."""
    settings = context.configuration.settings
    with _explained():
        _show(load_keys(settings.keys_path, settings.tokens.algorithm).keys, settings.tokens.algorithm)


@keys_group.command("rotate")
@config_option
@click.option("--prune", "and_prune", is_flag=True, help="Take out keys whose last token has expired.")
@click.pass_obj
def rotate_command(context: CommandContext, *, and_prune: bool) -> None:
    """Sign with a new key from now on; what older keys have signed stays good.

    Running servers take up the changed file by themselves. Without a file, one is made.
    """
    settings = context.configuration.settings
    path, algorithm, now = settings.keys_path, settings.tokens.algorithm, SystemClock().now()
    with _explained():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        rotate(path, algorithm, now)
        if and_prune:
            for key in prune(path, algorithm, now, settings.tokens.lifetime_seconds * 1000):
                click.echo(f"{key.kid} taken out")
        _show(load_keys(path, algorithm).keys, algorithm)


@keys_group.command("adopt-secret")
@config_option
@click.confirmation_option(
    prompt="No password, recovery code or link made under the old secret key will work. Go on?"
)
@click.pass_obj
def adopt_secret_command(context: CommandContext) -> None:
    """Accept the configured server.secret_key as the one of this database.

    Every password, refresh token, verification code, invitation and upload link made under the old
    secret key is void: users have to reset their passwords, administrators among them. If the old
    secret key is still there, configure it instead. Stop all servers first.
    """
    with context.container(any_secret=True) as container:
        adopt_secret(container.database, container.base.keys.fingerprint)
        with container.database.write() as connection:
            event = AuditEvent("secret.adopt", origin=Origin(user_agent="command line"))
            container.base.audit.record(connection, event)
    click.echo("the configured secret key is the database's from now on")


def _show(keys: Sequence[Key], algorithm: str) -> None:
    for key in keys:
        made = created_at(key)
        moment = "-" if made is None else iso_format(made * 1000)
        click.echo(f"{key.kid}  {algorithm}  {moment}  {'signs' if key is keys[0] else 'verifies'}")


@contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except (KeyRingError, OSError) as error:
        raise click.ClickException(str(error)) from error
