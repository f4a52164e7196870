"""What a server in production mode refuses to start with: each fault with its remedy."""

import stat
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from strongroom.config import Configuration, Settings
from strongroom.config.sources import KeyPath
from strongroom.selection import Selection

Fault = tuple[KeyPath, str]


def refuse_unsafe(configuration: Configuration, selection: Selection) -> None:
    """Pass in development, and in production if nothing is unsafe.

    Raises:
        ConfigurationError: something is.
    """
    settings = configuration.settings
    if not settings.is_production:
        return
    for path, message in (*_secrets(settings), *_addresses(settings), *_extensions(selection)):
        configuration.blame(path, message)
    configuration.refuse_problems()


def _secrets(settings: Settings) -> Iterator[Fault]:
    if settings.server.secret_key is None:
        wanted = "at least 32 random characters, from a file by STRONGROOM__SERVER__SECRET_KEY_FILE"
        yield ("server", "secret_key"), f"must be set in production: {wanted}"
    keys_file = settings.tokens.keys_file
    if keys_file is None:
        yield (
            ("tokens", "keys_file"),
            "must be set in production: a private JWK Set, kept outside data_dir",
        )
    elif _is_readable_by_others(keys_file):
        yield ("tokens", "keys_file"), f"{keys_file} can be read by others; run: chmod 600 {keys_file}"


def _addresses(settings: Settings) -> Iterator[Fault]:
    url = urlsplit(settings.server.public_url)
    if url.scheme != "https" or not url.hostname:
        yield ("server", "public_url"), 'must be set in production, such as "https://example.com"'


def _extensions(selection: Selection) -> Iterator[Fault]:
    if selection.captcha.extension.development_only:
        name = selection.captcha.extension.name
        yield ("captcha", "provider"), f'"{name}" is for development only; production needs another'
    for channel, choices in selection.senders.items():
        for choice in choices:
            if choice.extension.development_only:
                name = choice.extension.name
                yield ("messages", channel), f'"{name}" is for development only; [] sends none'


def _is_readable_by_others(path: Path) -> bool:
    return path.exists() and bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
