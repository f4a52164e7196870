"""What goes wrong at the platform: one exception tree, and the errcode that leads to each leaf.

No message here carries a code, a token, a secret or a session key.
"""

from typing import ClassVar, Final

from strongroom.plugin_api.web import ErrorKind


class WeChatError(Exception):
    """The root.

    Args:
        message: for the operator's log.
        errcode: the platform's number, or ``None`` where it gave none.
    """

    def __init__(self, message: str, *, errcode: int | None = None) -> None:
        super().__init__(message)
        self.errcode = errcode


class ClientFault(WeChatError):
    """What the client sent proves nothing; ``kind`` is what the client is told."""

    kind: ClassVar[ErrorKind]


class CodeInvalid(ClientFault):
    """The platform never gave this code to this app."""

    kind = ErrorKind(401, "error.wechat-code-invalid", "WeChat never gave this code to this app.")


class CodeUsed(ClientFault):
    """The code has been exchanged before."""

    kind = ErrorKind(401, "error.wechat-code-used", "The code has been exchanged before.")


class CodeExpired(ClientFault):
    """The code is too old."""

    kind = ErrorKind(401, "error.wechat-code-expired", "The code is too old.")


class PersonBlocked(ClientFault):
    """The platform holds the person to be a risk and does not let them log in."""

    kind = ErrorKind(401, "error.wechat-person-blocked", "WeChat holds the person to be a risk.")


class PhoneCodeInvalid(ClientFault):
    """The code for the phone number is unknown, used, too old, or of no use to this app."""

    kind = ErrorKind(
        401,
        "error.wechat-phone-code-invalid",
        "The phone code is unknown, used, or too old.",
    )


class DataInvalid(ClientFault):
    """Signed or encrypted data is not of this person, this app and this moment."""

    kind = ErrorKind(
        401,
        "error.wechat-data-invalid",
        "The data is not of this person, app and moment.",
    )


APP_UNKNOWN: Final = ErrorKind(400, "error.wechat-app-unknown", "No such app is configured here.")


class TokenRefused(WeChatError):
    """An access token is wrong or has expired."""


class RefreshTokenRefused(TokenRefused):
    """A refresh token is wrong or has expired: the person has to log in anew."""


class Misconfigured(WeChatError):
    """The platform does not know the appid or its secret: the operator's to mend, 503 to a client."""


class PlatformUnavailable(WeChatError):
    """The platform is busy, away, or answers what nobody documented: 503 to a client.

    ``retry_after`` is in seconds.
    """

    retry_after: ClassVar[int] = 5


class RateLimited(PlatformUnavailable):
    """The platform's limit of requests a minute is reached."""

    retry_after = 60


class QuotaExhausted(RateLimited):
    """The platform's limit of requests a day is reached."""

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
    """Return the exception that an errcode stands for; an unknown one is the platform's failure."""
    return _BY_ERRCODE.get(errcode, PlatformUnavailable)(message, errcode=errcode)


def kinds() -> list[ErrorKind]:
    """Return what clients may be told."""
    return [APP_UNKNOWN, *(fault.kind for fault in ClientFault.__subclasses__())]
