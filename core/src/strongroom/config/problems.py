"""Configuration problems, with enough context for an operator to correct them."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem: the origin of the value, its key, and a message with the remedy."""

    origin: str
    key: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.origin, self.key, self.message) if part)


class ConfigurationError(Exception):
    """The configuration is invalid. The text of the error has one line per problem."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


def closest(word: str, known: Sequence[str]) -> str | None:
    """Return the known word that is most similar to ``word``, or ``None``."""
    return next(iter(get_close_matches(word, known, n=1)), None)


def suggestion(word: str, known: Sequence[str]) -> str:
    """Return "did you mean ...?" for a misspelt word, or the list of known words."""
    if close := closest(word, known):
        return f'did you mean "{close}"?'
    return f"known here: {', '.join(sorted(known))}" if known else "nothing is known here"
