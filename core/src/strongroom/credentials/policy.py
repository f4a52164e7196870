"""The password policy."""

from typing import Final

from strongroom.credentials.passwords import MAX_LENGTH
from strongroom.credentials.strength import is_common
from strongroom.errors import Detail

MIN_LENGTH: Final = 8


def complaints(password: str, field: str = "password") -> list[Detail]:
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
