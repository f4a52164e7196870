"""The sources of the configuration: a TOML file and environment variables, and their problems."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: the origin of the value, its key, and a message with the remedy.

    ``is_temporary`` means that the configuration may be right: a service does not answer now.
    """

    origin: str
    key: str
    message: str
    is_temporary: bool = False

    def __str__(self) -> str:
        return ": ".join(part for part in (self.origin, self.key, self.message) if part)


class ConfigurationError(Exception):
    """The configuration is invalid. The text of the error has one line per problem."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)

    @property
    def is_temporary(self) -> bool:
        """Whether all problems may pass without a change of the configuration."""
        return all(problem.is_temporary for problem in self.problems)


def closest(word: str, known: Sequence[str]) -> str | None:
    """Return the known word that is most similar to ``word``, or ``None``."""
    return next(iter(get_close_matches(word, known, n=1)), None)


def suggestion(word: str, known: Sequence[str]) -> str:
    """Return "did you mean ...?" for a misspelt word, or the list of known words."""
    if close := closest(word, known):
        return f'did you mean "{close}"?'
    return f"known here: {', '.join(sorted(known))}" if known else "nothing is known here"


PREFIX: Final = "STRONGROOM__"
FILE_SUFFIX: Final = "_FILE"
ENVIRONMENT: Final = "environment "
"""How the origins of variables begin."""

READABLE_WANTED: Final = "name a folder that the server's user may read"
_OTHER_FILE: Final = "name another by --config or STRONGROOM_CONFIG"

KeyPath = tuple[str, ...]

_SECTION_LEVELS: Final = 2

_TABLE = re.compile(r"\s*\[\[?\s*([^\]]+?)\s*\]")
_KEY = re.compile(
    r"""\s*((?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[A-Za-z0-9_-]+|"[^"]*"|'[^']*'))*)\s*="""
)


class EnvironmentText(str):
    """A value from the environment, which is always text."""

    __slots__ = ()

    def parsed(self, *, as_list: bool) -> Any:
        """Parse the text as a TOML value, or, with ``as_list``, as comma-separated words."""
        try:
            return tomllib.loads(f"value = {self}")["value"]
        except tomllib.TOMLDecodeError:
            return [part.strip() for part in self.split(",") if part.strip()] if as_list else str(self)


@dataclass(slots=True)
class RawConfiguration:
    """Nested tables of unvalidated values, and the origin of each key."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[KeyPath, str] = field(default_factory=dict)

    def origin(self, path: KeyPath) -> str:
        """Return the origin of a key, else of the innermost enclosing table, else of a key nearby."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.origins:
                return self.origins[path[:length]]
        # A table that only variables state has no origin of its own.
        return self._inside(path) or (self._inside(path[:-1]) if len(path) > _SECTION_LEVELS else "")

    def _inside(self, path: KeyPath) -> str:
        return next((origin for key, origin in self.origins.items() if key[: len(path)] == path), "")

    def states(self, path: KeyPath) -> bool:
        """Return whether a key is set."""
        return self.get(path) is not None

    def get(self, path: KeyPath) -> Any:
        """Return the value of a key, or ``None``, which TOML lacks."""
        value: Any = self.values
        for part in path:
            value = value.get(part) if isinstance(value, dict) else None
        return value

    def set(self, path: KeyPath, value: Any, origin: str) -> None:
        """Set one key.

        Raises:
            ConfigurationError: a part of the path is a value, not a table.
        """
        table = self.values
        for part in path[:-1]:
            table = table.setdefault(part, {})
            if not isinstance(table, dict):
                raise ConfigurationError([Problem(origin, ".".join(path), f'"{part}" is not a table')])
        table[path[-1]] = value
        self.origins[path] = origin


def read_file(path: Path) -> RawConfiguration:
    """Read a TOML file.

    Raises:
        ConfigurationError: the file cannot be read, or is not TOML.
    """
    try:
        # Editors on Windows write a byte order mark, which TOML does not permit.
        text = path.read_text(encoding="utf-8-sig")
        values = tomllib.loads(text)
    except OSError as error:
        raise ConfigurationError(
            [Problem(str(path), "", f"cannot be read: {error.strerror}; {_OTHER_FILE}")]
        ) from error
    except UnicodeDecodeError as error:
        message = f"is not TOML: {error}; save it as UTF-8"
        raise ConfigurationError([Problem(str(path), "", message)]) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError([_syntax_problem(path, text, error)]) from error
    lines = _line_numbers(text)
    return RawConfiguration(values, {key: f"{path}:{number}" for key, number in lines.items()})


_AT_LINE = re.compile(r"\(at line (\d+), ")
_SYNTAX_REMEDIES: Final[Mapping[str, str]] = {
    "Cannot overwrite a value": "a key is set twice; remove one of the two",
    "Cannot declare": "a table is written twice; write each table once",
}
_SYNTAX_WANTED: Final = 'write KEY = VALUE, with a text in "quotes"'


def _syntax_problem(path: Path, text: str, error: tomllib.TOMLDecodeError) -> Problem:
    """Return the problem of a text that is not TOML, with the line and key at which reading ended."""
    lines = text.splitlines()
    place = _AT_LINE.search(str(error))
    number = int(place[1]) if place else len(lines)
    keys = [key for line, key in _places(text) if line <= number]
    remedy = next(
        (item for start, item in _SYNTAX_REMEDIES.items() if str(error).startswith(start)),
        _SYNTAX_WANTED,
    )
    key = ".".join(keys[-1]) if keys else ""
    return Problem(f"{path}:{number}", key, f"is not TOML: {error}; {remedy}")


def apply_environment(raw: RawConfiguration, environment: Mapping[str, str]) -> None:
    """Override values by ``STRONGROOM__SECTION__KEY`` variables.

    ``STRONGROOM__SECTION__KEY_FILE`` is the path of a file that contains the value; the line end is
    stripped.

    Raises:
        ConfigurationError: such a file cannot be read, or a value and its file are both set.
    """
    if problems := [_stated_twice(name) for name in sorted(environment) if _is_twice(name, environment)]:
        raise ConfigurationError(problems)
    # Sorted, so that the result does not depend on the order of the environment.
    for name in sorted(environment):
        if name.startswith(PREFIX):
            path = tuple(part.lower() for part in name.removeprefix(PREFIX).split("__"))
            _apply_variable(raw, path, name, environment[name])


def _is_twice(name: str, environment: Mapping[str, str]) -> bool:
    return name.startswith(PREFIX) and f"{name}{FILE_SUFFIX}" in environment


def _stated_twice(name: str) -> Problem:
    message = f"is set, and so is {name}{FILE_SUFFIX}; unset one of them"
    return Problem(f"{ENVIRONMENT}{name}", "", message)


def _apply_variable(raw: RawConfiguration, path: KeyPath, name: str, text: str) -> None:
    origin = f"{ENVIRONMENT}{name}"
    if not name.endswith(FILE_SUFFIX) or path[-1] in FILE_KEYS:
        raw.set(path, EnvironmentText(text), origin)
        return
    try:
        content = Path(text).read_text(encoding="utf-8-sig").rstrip("\r\n")
    except OSError as error:
        reason = f"cannot be read: {error.strerror}"
        problem = Problem(origin, text, f"{reason}; name a file that the server's user may read")
        raise ConfigurationError([problem]) from error
    path = (*path[:-1], path[-1].removesuffix(FILE_SUFFIX.lower()))
    raw.set(path, EnvironmentText(content), origin)


FILE_KEYS: Final = frozenset({"keys_file"})
"""Keys whose own names end in ``_file``, so that their variables are values, not paths of values."""


def _line_numbers(text: str) -> dict[KeyPath, int]:
    """Map keys to the numbers of their first lines, for messages."""
    numbers: dict[KeyPath, int] = {}
    for number, key in _places(text):
        numbers.setdefault(key, number)
    return numbers


def _places(text: str) -> Iterator[tuple[int, KeyPath]]:
    """Yield the number and key of each line. Approximate: multi-line strings are not recognised."""
    table: KeyPath = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _TABLE.match(line):
            table = _parts(match[1])
            yield number, table
        elif match := _KEY.match(line):
            yield number, (*table, *_parts(match[1]))


def _parts(dotted: str) -> KeyPath:
    return tuple(
        part.strip().strip("\"'") for part in re.split(r"\.(?=(?:[^\"']|\"[^\"]*\"|'[^']*')*$)", dotted)
    )
