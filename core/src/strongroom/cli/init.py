"""``strongroom init``: writes the configuration of a deployment, with its secrets and system files.

The templates in ``deployments`` are working files for the host name and the folders in their text, which
are replaced. ``server`` has the files that ``small`` and ``cluster`` share.
"""

import json
import re
import secrets
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Final

import click

from strongroom.cli.output import echo
from strongroom.clock import SystemClock
from strongroom.extensions.production_checks.samples import SECRETS_TO_FILL_IN
from strongroom.foundation.config.loader import find_installed
from strongroom.foundation.config.server_settings import PluginsSettings
from strongroom.foundation.secret_keys import create_private_file
from strongroom.identity.sessions.signing_keys import create_key_file

_DOMAIN: Final = "files.example.com"
_FOLDER: Final = "/etc/strongroom"
_PROGRAM: Final = "/opt/strongroom/bin/strongroom"

_PLUGINS: Final = 'enabled = ["storage_local"]'

_NEXT: Final = "next.txt"
_CONTROL: Final = "strongroomctl"
_SIGNING_KEYS: Final = Path("keys/signing-keys.json")

_SECRET: Final = re.compile(
    r"^(?:LoadCredential=|Environment=.*=%d/|export .*/secrets/)(\w+)", re.MULTILINE
)
"""A line that needs a secret: of a unit, or of strongroomctl."""

_FOLDERS: Final = {"local": ["local"], "small": ["server", "small"], "cluster": ["server", "cluster"]}

_SECRETS: Final[Mapping[str, frozenset[str]]] = {
    "local": frozenset(),
    "small": frozenset({"secret_key"}),
    "cluster": frozenset({"secret_key", *SECRETS_TO_FILL_IN}),
}


_PLAIN: Final = re.compile(r"[\w./+-]+")
"""Text that needs no quotes in a shell, a unit, TOML and the configuration of a proxy."""


class _PlainText(click.ParamType[str]):
    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value)
        if not _PLAIN.fullmatch(text):
            self.fail(f'"{text}": only letters, digits and . / _ + - are possible here', param, ctx)
        return text


@click.command("init")
@click.argument("kind", type=click.Choice(list(_FOLDERS)), default="local")
@click.argument("folder", type=_PlainText(), required=False)
@click.option(
    "--domain",
    type=_PlainText(),
    default=_DOMAIN,
    show_default=True,
    help="The host name of the server; not of `local`.",
)
@click.option(
    "--program",
    type=_PlainText(),
    default=_PROGRAM,
    show_default=True,
    help="The installed command that system services run; not of `local`.",
)
def init(kind: str, folder: str | None, domain: str, program: str) -> None:
    """Write a commented configuration into FOLDER, and print the next commands.

    `local`: a server on this machine, for development; FOLDER is the current folder.
    `small`: one machine with SQLite and a local folder, behind Caddy or nginx.
    `cluster`: PostgreSQL, Redis and S3, with several instances behind nginx.

    The last two write to /etc/strongroom by default: the configuration, the secret key and the signing
    keys (mode 600), systemd units, and the configuration of the proxy. No existing file is replaced.
    """
    target = Path(folder or ("." if kind == "local" else _FOLDER)).absolute()
    replaced = {_FOLDER: str(target), _DOMAIN: domain, _PROGRAM: program, _PLUGINS: _installed()}
    written = dict(deployment_files(kind, replaced))
    following = written.pop(Path(_NEXT))
    try:
        _write(target, kind, written)
    except OSError as error:
        raise click.ClickException(f"{error.filename}: cannot be written: {error.strerror}") from error
    echo(f"{', '.join(sorted(map(str, written)))} written to {target}", err=True)
    if kind != "local" and not Path(program).exists():
        echo(f"# 0. {program} does not exist yet; install Strongroom there.")
    echo(following, nl=False)


def _installed() -> str:
    """Return the line that enables the default plugins, as far as they are installed here."""
    return f"enabled = {json.dumps(find_installed(PluginsSettings().enabled))}"


def deployment_files(kind: str, replaced: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """Yield the relative path and the text of each file of a deployment, without its secrets.

    Args:
        kind: local, small or cluster.
        replaced: what texts of the templates are replaced by.
    """
    for name in _FOLDERS[kind]:
        for path, text in _texts(files("strongroom.cli") / "deployments" / name, Path()):
            yield path, _replaced(_without_secrets(text, _SECRETS[kind]), replaced)


def _texts(folder: Traversable, path: Path) -> Iterator[tuple[Path, str]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _texts(item, path / item.name)
        else:
            yield path / item.name, item.read_text(encoding="utf-8")


def _without_secrets(text: str, kept: frozenset[str]) -> str:
    """Return the text without the lines that need other secrets than those kept."""
    return "".join(
        line
        for line in text.splitlines(keepends=True)
        if (match := _SECRET.match(line)) is None or match[1] in kept
    )


def _replaced(text: str, replaced: Mapping[str, str]) -> str:
    # In one pass, because a replacement may contain another of the texts.
    pattern = "|".join(map(re.escape, replaced))
    return re.sub(pattern, lambda match: replaced[match[0]], text)


def _write(folder: Path, kind: str, texts: Mapping[Path, str]) -> None:
    """Write the files and the secrets."""
    private = {Path("secrets") / name: _secret(name) for name in sorted(_SECRETS[kind])}
    keys = [_SIGNING_KEYS] if kind != "local" else []
    if existing := [path for path in (*texts, *private, *keys) if (folder / path).exists()]:
        names = ", ".join(sorted(map(str, existing)))
        raise click.ClickException(f"{folder} has {names} already; nothing was written")
    for path, text in texts.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
        (folder / path).chmod(0o755 if path.name == _CONTROL else 0o644)
    for path, text in private.items():
        create_private_file(folder / path, text)
    for path in keys:
        (folder / path).parent.mkdir(mode=0o700, exist_ok=True)
        create_key_file(folder / path, "RS256", SystemClock().now())


def _secret(name: str) -> str:
    return SECRETS_TO_FILL_IN.get(name) or secrets.token_urlsafe(48)
