"""Exceptions for the platform's errcodes, and the refusals that only WeChat has.

No message contains a code, a token, a secret or a session key.
"""

from typing import Final

from strongroom.plugin_api.web import ErrorKind
from strongroom_login_oauth.errors import (
    AccessDenied,
    ClientFault,
    CodeExpired,
    CodeInvalid,
    CodeUsed,
    Misconfigured,
    ProviderError,
    ProviderUnavailable,
    TokenRefused,
    error_kind,
    unknown_kind,
)

METHOD: Final = "wechat"
PLATFORM: Final = "WeChat"


class PersonBlocked(ClientFault):
    """The platform blocks the person's logins as a risk."""

    suffix = "person-blocked"
    text = "{platform} blocks this person as a risk."


class PhoneCodeInvalid(ClientFault):
    """The code for the phone number is unknown, used, expired, or issued to another app."""

    suffix = "phone-code-invalid"
    text = "The phone code is unknown, used, or expired."


class DataInvalid(ClientFault):
    """Signed or encrypted data is invalid, expired, or belongs to another person or app."""

    suffix = "data-invalid"
    text = "The data is invalid, expired, or another person's or app's."


APP_UNKNOWN: Final = unknown_kind(METHOD, "app")

FAULTS: Final = (
    CodeInvalid,
    CodeUsed,
    CodeExpired,
    AccessDenied,
    PersonBlocked,
    PhoneCodeInvalid,
    DataInvalid,
)
"""The refusals that clients may get."""

BUSY: Final = -1
MINUTE_PAUSE: Final = 60
"""``Retry-After`` in seconds when the platform's limit of requests per minute is exceeded."""
DAY_PAUSE: Final = 3600
"""``Retry-After`` in seconds when the platform's limit of requests per day is exceeded."""

_PAUSES: Final = {45009: DAY_PAUSE, 45011: MINUTE_PAUSE}
_BY_ERRCODE: Final[dict[int, type[ProviderError]]] = {
    BUSY: ProviderUnavailable,
    40001: TokenRefused,
    40013: Misconfigured,
    40014: TokenRefused,
    40029: CodeInvalid,
    40125: Misconfigured,
    40163: CodeUsed,
    40226: PersonBlocked,
    42001: TokenRefused,
    42003: CodeExpired,
}


def error_for(errcode: int, message: str) -> ProviderError:
    """Return the exception for an errcode; ``ProviderUnavailable`` for an unknown one."""
    if errcode in _PAUSES:
        return ProviderUnavailable(message, retry_after=_PAUSES[errcode])
    kind: type[ProviderError] = _BY_ERRCODE.get(errcode, ProviderUnavailable)
    return kind(message)


def refusal(fault: type[ClientFault]) -> ErrorKind:
    """Return the error that clients get for a refusal."""
    return error_kind(fault, METHOD, PLATFORM)


def kinds() -> list[ErrorKind]:
    """Return the errors that clients may get."""
    return [APP_UNKNOWN, *map(refusal, FAULTS)]
