"""Passwords: how strong one must be."""

from functools import cache
from typing import Final, Literal

from strongroom.foundation.errors import Detail

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


MIN_LENGTH: Final = 8
MAX_LENGTH: Final = 1024


def password_faults(password: str, field: str = "password") -> list[Detail]:
    """Return the rules of the policy that a password breaks.

    The rules: 8 to 1024 characters, an uppercase and a lowercase letter, a digit, not a common password.
    """
    rules = [
        (len(password) >= MIN_LENGTH, "too-short", f"Needs at least {MIN_LENGTH} characters."),
        (len(password) <= MAX_LENGTH, "too-long", f"May have at most {MAX_LENGTH} characters."),
        (any(char.isupper() for char in password), "no-uppercase", "Needs an uppercase letter."),
        (any(char.islower() for char in password), "no-lowercase", "Needs a lowercase letter."),
        (any(char.isdigit() for char in password), "no-digit", "Needs a digit."),
        (not is_common(password), "too-common", "Is a commonly used password."),
    ]
    return [Detail(field, code, message) for holds, code, message in rules if not holds]
