"""The errcodes of the platform and their messages."""

from typing import Final

BUSY: Final = -1
INVALID_TOKEN: Final = 40001
INVALID_GRANT_TYPE: Final = 40002
INVALID_OPENID: Final = 40003
INVALID_APPID: Final = 40013
INVALID_USER_TOKEN: Final = 40014
INVALID_CODE: Final = 40029
INVALID_REFRESH_TOKEN: Final = 40030
INVALID_SECRET: Final = 40125
CODE_USED: Final = 40163
PERSON_BLOCKED: Final = 40226
TOKEN_EXPIRED: Final = 42001
REFRESH_TOKEN_EXPIRED: Final = 42002
CODE_EXPIRED: Final = 42003
DAILY_LIMIT: Final = 45009
MINUTE_LIMIT: Final = 45011

MESSAGES: Final = {
    BUSY: "system error",
    INVALID_TOKEN: "invalid credential, access_token is invalid or not latest",
    INVALID_GRANT_TYPE: "invalid grant_type",
    INVALID_OPENID: "invalid openid",
    INVALID_APPID: "invalid appid",
    INVALID_USER_TOKEN: "invalid access_token",
    INVALID_CODE: "invalid code",
    INVALID_REFRESH_TOKEN: "invalid refresh_token",
    INVALID_SECRET: "invalid appsecret",
    CODE_USED: "code been used",
    PERSON_BLOCKED: "code blocked",
    TOKEN_EXPIRED: "access_token expired",
    REFRESH_TOKEN_EXPIRED: "refresh_token expired",
    CODE_EXPIRED: "code expired",
    DAILY_LIMIT: "reach max api daily quota limit",
    MINUTE_LIMIT: "api minute-quota reach limit, must slower, retry next minute",
}


class Refusal(Exception):
    """An error response with an errcode."""

    def __init__(self, errcode: int) -> None:
        super().__init__(MESSAGES[errcode])
        self.errcode = errcode


def require_grant_type(given: object, expected: str) -> None:
    """Verify the grant type of a request.

    Raises:
        Refusal: it is not ``expected``.
    """
    if given != expected:
        raise Refusal(INVALID_GRANT_TYPE)
