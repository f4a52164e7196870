"""The keys of the texts that follow errors of the REST API."""

import re
import tomllib
from importlib.resources import files
from typing import Final


def _error_texts() -> frozenset[str]:
    folder = files(__package__) / "messages"
    catalogues = (item for item in folder.iterdir() if item.name.endswith(".en.toml"))
    keys = (key for item in catalogues for key in tomllib.loads(item.read_text("utf-8")))
    return frozenset(key for key in keys if key.startswith("error.")) - {"error.other"}


ERROR_TEXTS: Final = _error_texts()
"""The error codes with texts of their own."""


# The errors of plugins whose logins are redirects end alike: error.NAME-access-denied.
_AT_PROVIDER: Final = re.compile(
    "error\\.[a-z0-9_]+-(code|access-denied|not-member|email-not-allowed|answer-invalid)"
    "(-invalid|-used|-expired)?"
)


def known_text(error: str | None) -> str | None:
    """Return the key of the text for an error; ``None`` without one."""
    if error in ERROR_TEXTS:
        return error
    match = _AT_PROVIDER.fullmatch(error or "")
    return f"error.provider-{match[1]}" if match else None


def error_text(error: str | None) -> str:
    """Return the key of the text for an error."""
    return error if error in ERROR_TEXTS else "error.other"


def code_text(error: str | None) -> str:
    """Return the key of the text for a code that was refused."""
    return "code-wrong" if error == "error.invalid-credentials" else error_text(error)


def password_text(error: str | None) -> str:
    """Return the key of the text for a new password that was refused."""
    return "new-password-refused" if error == "error.validation-failed" else error_text(error)
