"""The error codes of the platform.

The sources are the tables of "get user_access_token", "get a user" and "generic error codes" in its
documentation.
"""

from typing import Final

from strongroom_login_oauth.client import Json, reason
from strongroom_login_oauth.errors import (
    AnswerInvalid,
    CodeExpired,
    CodeInvalid,
    CodeUsed,
    Misconfigured,
    NotMember,
    ProviderError,
    ProviderUnavailable,
    TokenRefused,
)

INVALID_USER_ID: Final = 41012
"""No such person, or one of the apps of another developer."""

_BY_CODE: Final[dict[int, type[ProviderError]]] = {
    # The other members of the request are fixed, so a code of the client is at fault.
    20001: CodeInvalid,
    20063: CodeInvalid,
    20003: CodeInvalid,
    20024: CodeInvalid,
    20004: CodeExpired,
    20065: CodeUsed,
    # The code belongs to another challenge or another redirect URI.
    20049: AnswerInvalid,
    20071: AnswerInvalid,
    # No such person, without the right to use the app, or no longer active.
    20008: NotMember,
    20010: NotMember,
    20066: NotMember,
    # The app: its secret, not installed, unknown, not enabled.
    20002: Misconfigured,
    20009: Misconfigured,
    20048: Misconfigured,
    20069: Misconfigured,
    10003: Misconfigured,
    10014: Misconfigured,
    # The app's range of contacts, and its permissions.
    41050: Misconfigured,
    99991672: Misconfigured,
    # The app's token.
    99991661: TokenRefused,
    99991663: TokenRefused,
    99991664: TokenRefused,
}


def check(answer: Json, request: dict[str, str]) -> Json:
    """Return the answer if its ``code`` is 0.

    Args:
        request: the parameters, whose values no message may repeat.

    Raises:
        ProviderError: the class for the code; ``ProviderUnavailable`` for an unknown one.
    """
    if answer.optional_integer("code", -1) != 0:
        raise make_error(answer, request)
    return answer


def make_error(answer: Json, request: dict[str, str]) -> ProviderError:
    """Return the exception for an answer whose ``code`` is not 0."""
    code = answer.optional_integer("code", -1)
    text = "error_description" if "error_description" in answer else "msg"
    message = f"{answer.source} returned code {code}: {reason(answer, text, request)}{_log_id(answer)}"
    return _BY_CODE.get(code, ProviderUnavailable)(message)


def _log_id(answer: Json) -> str:
    error = answer.members.get("error")
    log_id = error.get("log_id") if isinstance(error, dict) else None
    return f" (log id {log_id})" if isinstance(log_id, str) and log_id.isalnum() else ""
