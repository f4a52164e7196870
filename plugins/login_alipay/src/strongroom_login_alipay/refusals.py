"""The codes and sub codes of the gateway."""

from typing import Final

from strongroom_login_oauth.client import Json
from strongroom_login_oauth.errors import (
    CodeInvalid,
    Misconfigured,
    ProviderError,
    ProviderUnavailable,
)

_LIMITED: Final = "40005"
_PAUSE: Final = 60
"""Seconds until a request after too many."""

_BY_CODE: Final[dict[str, type[ProviderError]]] = {
    # Arguments and rights of the app.
    "40001": Misconfigured,
    "40002": Misconfigured,
    "40003": Misconfigured,
    "40006": Misconfigured,
}


def error_for(method: str, answer: Json) -> ProviderError:
    """Return the exception for a response with a code that is not 10000."""
    code, sub_code = _word(answer, "code"), _word(answer, "sub_code")
    message = f"{method} returned code {code} {sub_code}"
    # The gateway does not tell a used or an expired code from an unknown one.
    if sub_code == "isv.code-invalid":
        return CodeInvalid(message)
    if code == _LIMITED:
        return ProviderUnavailable(message, retry_after=_PAUSE)
    return _BY_CODE.get(code, ProviderUnavailable)(message)


def _word(answer: Json, key: str) -> str:
    value = answer.members.get(key)
    text = value if isinstance(value, str) else ""
    return "".join(letter for letter in text[:100] if letter.isalnum() or letter in "._-")
