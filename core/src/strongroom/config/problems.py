"""What is wrong with a configuration, said so that a deployer can mend it."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault: where it stands, which key, and what would be right."""

    origin: str
    key: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.origin, self.key, self.message) if part)


class ConfigurationError(Exception):
    """The server cannot start as configured. Its text is one line for each problem."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


def closest(word: str, known: Sequence[str]) -> str | None:
    """Return the known word that a misspelt one is likely to mean."""
    return next(iter(get_close_matches(word, known, n=1)), None)


def suggestion(word: str, known: Sequence[str]) -> str:
    """Return "did you mean ...?" for a misspelt word, or the words there are."""
    if close := closest(word, known):
        return f'did you mean "{close}"?'
    return f"known here: {', '.join(sorted(known))}" if known else "nothing is known here"
