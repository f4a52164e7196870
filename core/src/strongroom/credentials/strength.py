"""How hard a password is to guess, and which are guessed first; both by zxcvbn."""

from functools import cache
from typing import Final, Literal

Strength = Literal["low", "medium", "high"]

_ZXCVBN_LENGTH: Final = 72
_MEDIUM, _HIGH = 2, 4


def strength(password: str) -> Strength:
    """Return the strength of a password."""
    # Its word lists take a tenth of a second to load, and only whoever sets a password needs them.
    from zxcvbn import zxcvbn

    if not password:
        return "low"
    score = zxcvbn(password[:_ZXCVBN_LENGTH], max_length=_ZXCVBN_LENGTH)["score"]
    return "low" if score < _MEDIUM else "medium" if score < _HIGH else "high"


def is_common(password: str) -> bool:
    """Return whether a password is one of the 30,000 that are guessed first."""
    return password.casefold() in _common_passwords()


@cache
def _common_passwords() -> frozenset[str]:
    from zxcvbn.frequency_lists import FREQUENCY_LISTS

    return frozenset(FREQUENCY_LISTS["passwords"])
