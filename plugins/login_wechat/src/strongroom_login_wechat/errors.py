"""Exceptions for the platform's errcodes.

No message contains a code, a token, a secret or a session key.
"""

from typing import ClassVar, Final

from strongroom.plugin_api.web import ErrorKind


class WeChatError(Exception):
    """Base class.

    Args:
        errcode: the platform's errcode, or ``None`` if there is none.
    """

    def __init__(self, message: str, *, errcode: int | None = None) -> None:
        super().__init__(message)
        self.errcode = errcode


class ClientFault(WeChatError):
    """The client's proof is invalid; ``kind`` is the error returned to the client."""

    kind: ClassVar[ErrorKind]


class CodeInvalid(ClientFault):
    """The platform did not issue this code to this app."""

    kind = ErrorKind(401, "error.wechat-code-invalid", "Invalid WeChat code for this app.")


class CodeUsed(ClientFault):
    """The code has already been used."""

    kind = ErrorKind(401, "error.wechat-code-used", "The WeChat code has already been used.")


class CodeExpired(ClientFault):
    """The code has expired."""

    kind = ErrorKind(401, "error.wechat-code-expired", "The WeChat code has expired.")


class PersonBlocked(ClientFault):
    """The platform blocks the person's logins as a risk."""

    kind = ErrorKind(401, "error.wechat-person-blocked", "WeChat blocks this person as a risk.")


class PhoneCodeInvalid(ClientFault):
    """The code for the phone number is unknown, used, expired, or issued to another app."""

    kind = ErrorKind(
        401,
        "error.wechat-phone-code-invalid",
        "The phone code is unknown, used, or expired.",
    )


class DataInvalid(ClientFault):
    """Signed or encrypted data is invalid, expired, or belongs to another person or app."""

    kind = ErrorKind(
        401,
        "error.wechat-data-invalid",
        "The data is invalid, expired, or another person's or app's.",
    )


APP_UNKNOWN: Final = ErrorKind(400, "error.wechat-app-unknown", "Unknown app; see the configuration.")


class TokenRefused(WeChatError):
    """An access token is wrong or has expired."""


class RefreshTokenRefused(TokenRefused):
    """A refresh token is wrong or has expired; the person must log in again."""


class Misconfigured(WeChatError):
    """The platform rejects the appid or its secret. The client gets 503; the operator must fix it."""


class PlatformUnavailable(WeChatError):
    """The platform is busy, unreachable, or returns an undocumented response. The client gets 503.

    ``retry_after`` is in seconds.
    """

    retry_after: ClassVar[int] = 5


class RateLimited(PlatformUnavailable):
    """The platform's limit of requests per minute is exceeded."""

    retry_after = 60


class QuotaExhausted(RateLimited):
    """The platform's limit of requests per day is exceeded."""

    retry_after = 3600


BUSY = -1

_BY_ERRCODE: dict[int, type[WeChatError]] = {
    BUSY: PlatformUnavailable,
    40001: TokenRefused,
    40013: Misconfigured,
    40014: TokenRefused,
    40029: CodeInvalid,
    40030: RefreshTokenRefused,
    40125: Misconfigured,
    40163: CodeUsed,
    40226: PersonBlocked,
    42001: TokenRefused,
    42002: RefreshTokenRefused,
    42003: CodeExpired,
    45009: QuotaExhausted,
    45011: RateLimited,
}


def error_for(errcode: int, message: str) -> WeChatError:
    """Return the exception for an errcode; ``PlatformUnavailable`` for an unknown one."""
    return _BY_ERRCODE.get(errcode, PlatformUnavailable)(message, errcode=errcode)


def kinds() -> list[ErrorKind]:
    """Return the errors that clients may get."""
    return [APP_UNKNOWN, *(fault.kind for fault in ClientFault.__subclasses__())]
