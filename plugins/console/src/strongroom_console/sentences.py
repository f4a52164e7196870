"""Sentences with names in them, which pages show as links."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

MARKS: Final[Mapping[str, str]] = {
    "actor": "\ue000",
    "target": "\ue001",
    "person": "\ue002",
    "file": "\ue003",
    "tenant": "\ue004",
}
"""Characters of the private use area, which stand for names until a sentence is split."""

_SPLIT: Final = re.compile(f"([{''.join(MARKS.values())}])")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a sentence; a name has a path if it has a page."""

    words: str
    path: str | None = None
    is_name: bool = False


def without_marks(text: str) -> str:
    """Return a text of others, which cannot stand for a name."""
    return _SPLIT.sub("", text)


def split_sentence(sentence: str, names: Mapping[str, Piece]) -> Sequence[Piece]:
    """Return a sentence in parts.

    Args:
        sentence: a text with some of :data:`MARKS`.
        names: what the marks stand for, by their names.
    """
    pieces = {MARKS[name]: piece for name, piece in names.items()}
    return [pieces.get(words) or Piece(words) for words in _SPLIT.split(sentence) if words]
