"""Texts of searches, drawn from the names of a corpus: frequent, rare, absent, one letter, and CJK."""

import string
from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Final

PER_KIND: Final = 40
"""Number of texts of each kind."""

_LETTERS: Final = (*string.ascii_lowercase, *string.digits, ".", "-", " ")
_RARE: Final = 8
"""Length of a piece of a name that few other names contain."""


def drawn(names: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return texts of each kind; the same ones for the same names.

    Args:
        names: the folded names of all nodes.
    """
    random = Random(1)  # noqa: S311  the same texts each time
    latin = [name for name in names if name.isascii()]
    others = [name for name in names if not name.isascii()]
    corpus = "\n".join(names)
    return {
        "frequent": _repeat(lambda: random.choice(random.choice(latin).split("-")[0].split())),
        "rare": _repeat(lambda: _piece(random, random.choice(latin), _RARE)),
        "absent": _repeat(lambda: _absent(random, random.choice(latin), corpus)),
        # Each letter once, whether it is in many names or in none.
        "one letter": [*_LETTERS, random.choice(_LETTERS)],
        "CJK": _repeat(lambda: _piece(random, _word(random.choice(others)), random.randint(1, 3))),
    }


def _repeat(draw: Callable[[], str]) -> list[str]:
    return [draw() for _ in range(PER_KIND)]


def _piece(random: Random, name: str, length: int) -> str:
    start = random.randrange(max(len(name) - length, 0) + 1)
    return name[start : start + length]


def _word(name: str) -> str:
    """Return the characters at the start of a name that are not ASCII."""
    return name[: next(place for place, char in enumerate(name) if char.isascii())]


def _absent(random: Random, name: str, corpus: str) -> str:
    """Return a text of the characters of a name that no name contains."""
    text = name
    while text in corpus:
        text = "".join(random.sample(name, _RARE))
    return text
