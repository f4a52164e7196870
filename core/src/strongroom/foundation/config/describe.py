"""Prints a configuration, or a template of one, from the dataclasses that declare its keys."""

import json
import typing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, quote_plus, unquote, urlsplit

from strongroom.foundation.config.file_settings import StorageSettings
from strongroom.foundation.config.rates import Rate
from strongroom.foundation.config.settings import Settings
from strongroom.foundation.config.sources import KeyPath, RawConfiguration

MASK: Final = "..."
"""The text in place of a secret."""

_HIDDEN: Final = f'"{MASK}"'

_SHORTEST_SECRET: Final = 4
"""Shorter ones are words of messages, too."""

DEFAULT: Final = "default"
"""The origin of values that nothing sets."""

NAME: Final = "NAME"
"""In the path of a table, a name of the operator's choice or one of several."""


@dataclass(frozen=True, slots=True)
class Section:
    """A table of the configuration file: its path, the type that declares its keys, and its values.

    ``chosen_by`` is the key and value that select the extension, such as ``backend = "s3"``. ``names``
    are the possible names of a table with ``NAME`` in its path; empty: any.
    """

    path: KeyPath
    options_type: type[Any]
    options: Any = None
    chosen_by: tuple[str, str] | None = None
    names: tuple[str, ...] = ()


def core_sections(settings: Settings | None = None) -> list[Section]:
    """Return the tables of the core, with the values of ``settings``; without them, the defaults."""
    return list(_tables_within(Settings, (), settings or Settings()))


def _tables_within(options_type: type[Any], path: KeyPath, values: Any) -> Iterator[Section]:
    hints = typing.get_type_hints(options_type)
    for item in fields(options_type):
        if _is_table(hints[item.name]):
            inner, inner_path = getattr(values, item.name), (*path, item.name)
            if _plain_fields(hints[item.name]):
                yield Section(inner_path, hints[item.name], inner)
            yield from _tables_within(hints[item.name], inner_path, inner)


def _is_table(annotation: Any) -> bool:
    return is_dataclass(annotation) and annotation is not Rate


def _plain_fields(options_type: type[Any]) -> "list[Field[Any]]":
    """Return the keys of a table, without its subtables."""
    hints = typing.get_type_hints(options_type)
    return [item for item in fields(options_type) if not _is_table(hints[item.name])]


@dataclass(frozen=True, slots=True)
class ConfigurationValue:
    """The value of one key, as administrators may see it.

    Args:
        text: in TOML syntax; secrets are masked.
        origin: a line of the file, a variable of the environment, or ``default``.
        is_changed: whether a source sets another value than the default.
    """

    path: KeyPath
    text: str
    origin: str
    is_changed: bool
    help: str


def values(sections: Sequence[Section], raw: RawConfiguration) -> Iterator[ConfigurationValue]:
    """Yield the value of each key."""
    for section in sections:
        for item in _plain_fields(section.options_type):
            path, value = (*section.path, item.name), getattr(section.options, item.name)
            is_set = raw.states(path)
            yield ConfigurationValue(
                path,
                _masked(item, value),
                raw.origin(path) if is_set else DEFAULT,
                is_set and value_is_changed(item, value),
                item.metadata["help"],
            )


def _masked(item: "Field[Any]", value: Any) -> str:
    return _HIDDEN if item.metadata["secret"] and value else spell(value)


def value_is_changed(item: "Field[Any]", value: Any) -> bool:
    """Return whether the value of a key differs from the default; always true for a required key."""
    if item.default_factory is not MISSING:
        return bool(value != item.default_factory())
    return bool(value != item.default)


def show(sections: Sequence[Section], raw: RawConfiguration, *, with_origin: bool) -> Iterator[str]:
    """Yield one line per key: its value and, optionally, its origin. Secrets are masked."""
    for value in values(sections, raw):
        origin = f"  # {value.origin}" if with_origin else ""
        yield f"{'.'.join(value.path)} = {value.text}{origin}"


def secrets_in(sections: Sequence[Section]) -> Iterator[tuple[KeyPath, str]]:
    """Yield the path and value of each secret that is set; a URL counts only if it has a password."""
    for section in sections:
        for item in _plain_fields(section.options_type):
            value = getattr(section.options, item.name)
            if not item.metadata["secret"] or not isinstance(value, str) or not value:
                continue
            if "://" not in value or urlsplit(value).password:
                yield (*section.path, item.name), value


def secret_texts(sections: Sequence[Section]) -> Iterator[str]:
    """Yield the texts of all secrets that are set, also those within tables, and passwords of URLs."""
    for section in sections:
        for item in _plain_fields(section.options_type):
            value = getattr(section.options, item.name)
            yield from _find_secrets(value, is_secret=item.metadata["secret"])


def _find_secrets(value: Any, *, is_secret: bool) -> Iterator[str]:
    if isinstance(value, str) and is_secret:
        password = urlsplit(value).password if "://" in value else None
        yield from filter(None, (value, password))
    elif isinstance(value, Mapping):
        yield from _secrets_within(value.values(), is_secret=is_secret)
    elif isinstance(value, tuple | list):
        yield from _secrets_within(value, is_secret=is_secret)
    elif is_dataclass(value):
        for item in fields(value):
            is_hidden = is_secret or item.metadata.get("secret", False)
            yield from _find_secrets(getattr(value, item.name), is_secret=is_hidden)


def _secrets_within(parts: Iterable[Any], *, is_secret: bool) -> Iterator[str]:
    for part in parts:
        yield from _find_secrets(part, is_secret=is_secret)


def _spellings(secret: str) -> Iterator[str]:
    """Yield a secret, each of its lines, and how ``repr``, JSON and URLs spell it."""
    yield from (secret, *secret.splitlines())
    for literal in (repr(secret), ascii(secret), json.dumps(secret), spell(secret)):
        yield literal[1:-1]
    yield from (quote(secret), quote(secret, safe=""), quote_plus(secret), unquote(secret))


class SecretMask:
    """Masks the secrets of a configuration in texts, such as the messages of drivers.

    They are also masked as ``repr``, JSON and URLs spell them: messages quote what they refuse.

    Args:
        shortest: the characters of the shortest secret that is masked. Shorter ones are words, too.
    """

    def __init__(self, sections: Sequence[Section], shortest: int = _SHORTEST_SECRET) -> None:
        spellings = (text for secret in secret_texts(sections) for text in _spellings(secret))
        texts = {text for text in spellings if len(text) >= shortest}
        # The longest one first: one secret may be a part of another.
        self._texts = sorted(texts, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """Return the text with each secret masked."""
        for secret in self._texts:
            text = text.replace(secret, MASK)
        return text


def template(sections: Sequence[Section], *, with_advanced: bool = True) -> Iterator[str]:
    """Yield the lines of a configuration file with the keys, commented out, and their help texts.

    Args:
        sections: the tables; tables of the same path and several implementations become one.
        with_advanced: whether advanced keys are included.
    """
    tables: dict[KeyPath, list[Section]] = {}
    for section in sections:
        if _keys(section, with_advanced=with_advanced):
            tables.setdefault(section.path, []).append(section)
    for path, parts in tables.items():
        # A table with a required key is an error unless it is used, so its header is a comment, too.
        yield f"{'#' if _is_optional(parts[0]) else ''}[{'.'.join(path)}]"
        for part in parts:
            if part.names:
                yield f"# NAME: {', '.join(part.names)}; their defaults may differ."
            yield from _choice(part, is_alternative=part is not parts[0])
            for item in _keys(part, with_advanced=with_advanced):
                yield f"# {_advanced_mark(item)}{item.metadata['help']}{_constraint(item)}"
                yield f"#{item.name} = {_default(item, part.options)}"
        yield ""


def template_sections() -> list[Section]:
    """Return the tables of the core for a template: those with the same keys once, as ``NAME``."""
    groups: dict[object, list[Section]] = {}
    for section in [*core_sections(), Section(("storages", NAME), StorageSettings)]:
        parent = section.path[:-1]
        groups.setdefault((parent, section.options_type) if parent else section.path, []).append(section)
    return [group[0] if len(group) == 1 else _of_all(group) for group in groups.values()]


def _of_all(group: Sequence[Section]) -> Section:
    first = group[0]
    names = tuple(section.path[-1] for section in group)
    return Section((*first.path[:-1], NAME), first.options_type, names=names)


def _keys(section: Section, *, with_advanced: bool) -> "list[Field[Any]]":
    items = _plain_fields(section.options_type)
    return [item for item in items if with_advanced or not item.metadata["advanced"]]


def _advanced_mark(item: "Field[Any]") -> str:
    return "(advanced) " if item.metadata["advanced"] else ""


def _is_optional(section: Section) -> bool:
    required = any(map(_is_required, _plain_fields(section.options_type)))
    return required or NAME in section.path or section.chosen_by is not None


def _choice(section: Section, *, is_alternative: bool) -> Iterator[str]:
    """Yield the line that selects the extension of a table, unless the table has this key already."""
    if section.chosen_by is None:
        return
    line = f"{section.chosen_by[0]} = {spell(section.chosen_by[1])}"
    yield f"# With {line}:" if is_alternative else f"#{line}"


def spell(value: Any) -> str:
    """Return a value in TOML syntax; ``None``, which TOML lacks, becomes an empty string.

    Secrets within a table are masked.
    """
    # Before int, because bool is a subclass of it.
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(spell, value))}]"
    if isinstance(value, Mapping):
        return _table({key: spell(item) for key, item in value.items()})
    if value is None or isinstance(value, str | Path | Rate):
        return json.dumps("" if value is None else str(value), ensure_ascii=False)
    if is_dataclass(value):
        parts = {item.name: _masked(item, getattr(value, item.name)) for item in fields(value)}
        return _table(parts)
    # Numbers, and the dates and times of a free table.
    return str(value)


def _table(spelled: Mapping[str, str]) -> str:
    return f"{{{', '.join(f'{key} = {text}' for key, text in spelled.items())}}}"


def _is_required(item: "Field[Any]") -> bool:
    return item.default is MISSING and item.default_factory is MISSING


def _default(item: "Field[Any]", options: Any) -> str:
    if options is not None:
        return spell(getattr(options, item.name))
    if item.default is not MISSING:
        return spell(item.default)
    if item.default_factory is not MISSING:
        return spell(item.default_factory())
    return '"" # required'


def _constraint(item: "Field[Any]") -> str:
    low, high = item.metadata["range"]
    if choices := item.metadata["choices"]:
        return f" One of: {', '.join(choices)}."
    if low is None and high is None:
        return ""
    if high is None:
        return f" At least {low}."
    return f" At most {high}." if low is None else f" {low} to {high}."
