"""Production checks: unsafe settings that a server refuses to start with, each with its remedy."""

import os
import re
import stat
from collections.abc import Iterator, Mapping
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from joserfc.jwk import OctKey, RSAKey

from strongroom.content.storage.stores import find_fault
from strongroom.extensions.production_checks.samples import samples_in
from strongroom.foundation.addresses import parse_network
from strongroom.foundation.config import Configuration, Settings
from strongroom.foundation.config.describe import secrets_in, spell
from strongroom.foundation.config.limits import OFF
from strongroom.foundation.config.sources import FILE_SUFFIX, KeyPath
from strongroom.foundation.plugins.selection import Selection
from strongroom.foundation.secret_keys import is_readable_by_others
from strongroom.identity.sessions.signing_keys import Key, KeyRingError, load_keys
from strongroom.plugin_api.storage import (
    LocalPaths,
    StorageBackend,
    StorageError,
    StorageFull,
    StorageUnavailable,
)

_FEWEST_DIFFERENT: Final = 12
"""The minimum number of distinct bytes; 32 random bytes or characters practically always have more."""

_WORDS: Final = re.compile(
    rb"change[-_ ]?(me|this|it)|your[-_ \w]{0,20}(secret|key)|example|sample|placeholder|insecure"
    rb"|default|password|0123456789abcdef|abcdefghijklm|supersecret|secret[-_ ]?key|for[-_ ]?test",
    re.IGNORECASE,
)

_PUBLISHED: Final = frozenset(
    {
        # The HMAC keys of RFC 7515, appendix A.1, and RFC 7520, section 3.5.
        "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow",
        "hJtXIZ2uSN5kbQfbtTNWbpdmhkV8FJG-Onbc6mxCcYg",
    }
)

_PUBLISHED_MODULI: Final = (
    # The first digits of the moduli, in base64url, of the RSA keys of
    # RFC 7515, appendix A.2; RFC 7517, appendix A; and RFC 7520, section 3.4.
    "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp",
    "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86z",
    "n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRoj",
)


def is_sample_secret(secret: str) -> bool:
    """Return whether a secret is a known sample, or was typed by hand instead of generated."""
    return _is_sample(secret.encode())


def is_sample_key(key: Key) -> bool:
    """Return whether a signing key was published, or was typed by hand instead of generated."""
    if isinstance(key, RSAKey):
        return str(key.as_dict(private=False)["n"]).startswith(_PUBLISHED_MODULI)
    return _is_published(key) or _is_sample(key.raw_value)


def _is_published(key: OctKey) -> bool:
    return str(key.as_dict(private=True)["k"]) in _PUBLISHED


def _is_sample(secret: bytes) -> bool:
    return len(set(secret)) < _FEWEST_DIFFERENT or _WORDS.search(secret) is not None


_DATABASE_WANTED: Final = (
    "must be set in production: postgresql+psycopg://... from a file by STRONGROOM__DATABASE__URL_FILE, "
    "or sqlite:////FILE for a server on one machine"
)

Fault = tuple[KeyPath, str]

_SECRET_KEY: Final = ("server", "secret_key")


def refuse_unsafe(configuration: Configuration, selection: Selection) -> None:
    """Check the configuration for unsafe settings; does nothing in development.

    Raises:
        ConfigurationError: at least one setting is unsafe.
    """
    settings = configuration.settings
    if not settings.is_production:
        return
    faults = (
        *_debug(),
        *_samples(configuration),
        *_database(settings),
        *_relative_paths(configuration, selection),
        *_data_dir(settings),
        *_secret(configuration),
        *_secret_files(configuration, selection),
        *_signing_keys(settings, selection),
        *_addresses(settings),
        *_limits(settings),
        *_extensions(selection),
        *_options(selection),
    )
    for path, message in faults:
        configuration.add_error(path, message)
    configuration.raise_if_invalid()


def refuse_misplaced(configuration: Configuration, storages: Mapping[str, StorageBackend[Any]]) -> None:
    """Check that no local storage is inside the installed code; does nothing in development.

    Raises:
        ConfigurationError: a storage is.
    """
    if not configuration.settings.is_production:
        return
    for name, storage in storages.items():
        if (local := storage.capability(LocalPaths)) and (code := _code_around(local.local_path("any"))):
            configuration.add_error(
                ("storages", name), f"its folder is inside the code, {code}; configure one elsewhere"
            )
    configuration.raise_if_invalid()


def refuse_unusable(
    configuration: Configuration, storages: Mapping[str, StorageBackend[Any]]
) -> Mapping[str, StorageError]:
    """Write, read and delete an object in every storage; does nothing in development.

    Returns:
        The errors of storages that are unavailable or full, which may be temporary.

    Raises:
        ConfigurationError: a storage fails permanently.
    """
    passing: dict[str, StorageError] = {}
    if not configuration.settings.is_production:
        return passing
    for name, storage in storages.items():
        try:
            fault = find_fault(storage)
        except (StorageUnavailable, StorageFull) as error:
            passing[name] = error
        else:
            if fault:
                configuration.add_error(
                    ("storages", name), f"{fault}; correct its options, or repair the store"
                )
    configuration.raise_if_invalid()
    return passing


def _debug() -> Iterator[Fault]:
    if os.environ.get("FLASK_DEBUG", "").lower() not in ("", "0", "false", "no"):
        yield ("server", "mode"), "FLASK_DEBUG is on; unset it in production"


def refuse_unstated_database(configuration: Configuration) -> None:
    """Check that ``database.url`` is set; does nothing in development.

    Raises:
        ConfigurationError: it is not set.
    """
    if configuration.settings.is_production:
        for path, message in _database(configuration.settings):
            configuration.add_error(path, message)
        configuration.raise_if_invalid()


def _samples(configuration: Configuration) -> Iterator[Fault]:
    for path in samples_in(configuration.raw.values):
        yield path, "is the sample value of a template; set the value of your own"


def _database(settings: Settings) -> Iterator[Fault]:
    if not settings.database.url:
        # The default would silently create an empty SQLite database instead of using the real one.
        yield ("database", "url"), _DATABASE_WANTED


def _relative_paths(configuration: Configuration, selection: Selection) -> Iterator[Fault]:
    """Yield the paths that depend on the folder in which a command or the server is started."""
    fault = "is relative to the folder of each start; write it as"
    url = configuration.settings.database.url
    if url.startswith("sqlite:///") and not url.startswith("sqlite:////"):
        yield ("database", "url"), f"{fault} sqlite:////FOLDER/{url.removeprefix('sqlite:///')}"
    for section in selection.all_sections(configuration.settings):
        for item in fields(section.options_type):
            path, value = (*section.path, item.name), getattr(section.options, item.name)
            if isinstance(value, Path) and not value.is_absolute() and configuration.raw.states(path):
                yield path, f'{fault} an absolute path, such as "/srv/strongroom/{value.name}"'


def _secret(configuration: Configuration) -> Iterator[Fault]:
    path = _SECRET_KEY
    secret = configuration.settings.server.secret_key
    rule = "at least 32 random characters, from a file by STRONGROOM__SERVER__SECRET_KEY_FILE"
    if secret is None:
        yield path, f"must be set in production: {rule}"
        return
    if is_sample_secret(secret):
        yield path, f"is a published sample, or too simple; set {rule}"
    file = _file_behind(configuration.raw.origin(path))
    if file is not None and is_readable_by_others(file):
        yield path, f"{file} can be read by others; run: chmod 600 {file}"


def _data_dir(settings: Settings) -> Iterator[Fault]:
    path = settings.server.data_dir.absolute()
    # Group access is allowed, because a Kubernetes volume may be accessible only through fsGroup.
    if path.is_dir() and path.stat().st_mode & stat.S_IRWXO:
        yield ("server", "data_dir"), f"{path} can be read by others; run: chmod 700 {path}"


def _secret_files(configuration: Configuration, selection: Selection) -> Iterator[Fault]:
    """Yield the files of secrets, except the secret key, that other users can read."""
    sections = selection.all_sections(configuration.settings)
    # Each file is reported once, and the secret key's file by its own check.
    known = {_file_behind(configuration.raw.origin(_SECRET_KEY))}
    for path, _ in secrets_in(sections):
        file = _file_behind(configuration.raw.origin(path))
        if file is not None and file not in known and is_readable_by_others(file):
            known.add(file)
            yield path, f"{file} can be read by others; run: chmod 600 {file}"


def _signing_keys(settings: Settings, selection: Selection) -> Iterator[Fault]:
    path, keys_file = ("tokens", "keys_file"), settings.tokens.keys_file
    if keys_file is None:
        yield path, "must be set in production: a private JWK Set, kept outside data_dir"
        return
    if is_readable_by_others(keys_file):
        yield path, f"{keys_file} can be read by others; run: chmod 600 {keys_file}"
    try:
        ring = load_keys(keys_file, settings.tokens.algorithm)
        if selection.plugins.token_types:
            ring.statement_key()
    except KeyRingError as error:
        yield path, str(error)
        return
    if any(map(is_sample_key, ring.keys)):
        remedy = "move it away, and run: strongroom keys rotate"
        yield path, f"{keys_file} holds a published sample key; {remedy}"


def _addresses(settings: Settings) -> Iterator[Fault]:
    stated = settings.server.public_url
    if not stated:
        yield ("server", "public_url"), 'must be set in production, such as "https://example.com"'
    elif urlsplit(stated).scheme != "https":
        example = f"https://{urlsplit(stated).netloc}"
        yield (
            ("server", "public_url"),
            f'must begin with https:// in production, such as "{example}", to protect tokens in transit',
        )
    if any(parse_network(text).prefixlen == 0 for text in settings.server.trusted_proxies):
        yield (
            ("server", "trusted_proxies"),
            "trusts X-Forwarded-For from every client; list the networks of the proxies",
        )
    if "*" in settings.server.cors_origins:
        yield ("server", "cors_origins"), '"*" is for development only; list the exact origins'


def _limits(settings: Settings) -> Iterator[Fault]:
    if settings.limits.profile == OFF:
        message = '"off" is for development only; raise single limits by their names'
        yield ("limits", "profile"), message


def _extensions(selection: Selection) -> Iterator[Fault]:
    if selection.captcha.extension.development_only:
        name = selection.captcha.extension.name
        yield ("captcha", "provider"), f'"{name}" is for development only; production needs another'
    for_pages = selection.page_captcha
    if for_pages is not selection.captcha and for_pages.extension.development_only:
        message = f'"{for_pages.extension.name}" is for development only; production needs another'
        yield ("captcha", "pages_provider"), message
    for channel, choices in selection.senders.items():
        for choice in choices:
            if choice.extension.development_only:
                name = choice.extension.name
                yield ("messages", channel), f'"{name}" is for development only; [] sends none'


def _options(selection: Selection) -> Iterator[Fault]:
    for section in selection.sections():
        for item in fields(section.options_type):
            if item.metadata["development_only"]:
                value = getattr(section.options, item.name)
                if value != item.default:
                    message = f"{spell(value)} is for development only; remove this key"
                    yield (*section.path, item.name), message


def _file_behind(origin: str) -> Path | None:
    """Return the configuration file or ``_FILE`` file that a value was read from, or ``None``."""
    kind, _, variable = origin.partition(" ")
    if kind == "environment":
        return Path(os.environ[variable]) if variable.endswith(FILE_SUFFIX) else None
    path = Path(origin.rpartition(":")[0])
    return path if path.is_file() else None


def _code_around(path: Path) -> Path | None:
    """Return the package folder that contains the path, or ``None``."""
    spec = find_spec("strongroom")
    folders = [Path(place).resolve() for place in (spec and spec.submodule_search_locations) or ()]
    return next((folder for folder in folders if path.resolve().is_relative_to(folder)), None)
