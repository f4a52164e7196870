"""``strongroom keys``: manages the signing keys and the secret key, without ever printing them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import click

from strongroom.audit.service import AuditEvent
from strongroom.cli.context import CommandContext, config_option
from strongroom.clock import SystemClock, iso_format
from strongroom.database.installation import adopt_secret
from strongroom.identity import Origin
from strongroom.sessions.keys import Key, KeyRingError, created_at, load_keys, prune, rotate


@click.group("keys")
def keys_group() -> None:
    """Manage the keys that sign access tokens, and the secret key."""


@keys_group.command("list")
@config_option
@click.pass_obj
def list_command(context: CommandContext) -> None:
    """List the keys. The first one signs; the others only verify older tokens."""
    settings = context.configuration.settings
    with _explained():
        _show(load_keys(settings.keys_path, settings.tokens.algorithm).keys, settings.tokens.algorithm)


@keys_group.command("rotate")
@config_option
@click.option(
    "--prune", "and_prune", is_flag=True, help="Also remove keys whose last token has expired."
)
@click.pass_obj
def rotate_command(context: CommandContext, *, and_prune: bool) -> None:
    """Add a new signing key; tokens that older keys have signed stay valid.

    Running servers reload the changed file automatically. If the file is missing, it is created.
    """
    settings = context.configuration.settings
    path, algorithm, now = settings.keys_path, settings.tokens.algorithm, SystemClock().now()
    with _explained():
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        rotate(path, algorithm, now)
        if and_prune:
            for key in prune(path, algorithm, now, settings.tokens.lifetime_seconds * 1000):
                click.echo(f"{key.kid} removed")
        _show(load_keys(path, algorithm).keys, algorithm)


@keys_group.command("adopt-secret")
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
