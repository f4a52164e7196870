"""Password strength and common passwords, from zxcvbn."""

from functools import cache
from typing import Final, Literal

Strength = Literal["low", "medium", "high"]

# The running time of zxcvbn grows faster than the length, so only the first characters are scored.
_ZXCVBN_LENGTH: Final = 72
# Minimum scores of zxcvbn, which range from 0 to 4.
_MEDIUM, _HIGH = 2, 4


def strength(password: str) -> Strength:
    """Return the strength of a password."""
    # Imported lazily: the word lists take 0.1 s to load, and only new passwords need them.
    from zxcvbn import zxcvbn

    if not password:
        return "low"
    score = zxcvbn(password[:_ZXCVBN_LENGTH], max_length=_ZXCVBN_LENGTH)["score"]
    return "low" if score < _MEDIUM else "medium" if score < _HIGH else "high"


def is_common(password: str) -> bool:
    """Return whether a password is one of zxcvbn's 30,000 most common ones."""
    return password.casefold() in _common_passwords()


@cache
def _common_passwords() -> frozenset[str]:
    from zxcvbn.frequency_lists import FREQUENCY_LISTS

    return frozenset(FREQUENCY_LISTS["passwords"])
