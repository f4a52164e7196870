"""Error responses: string codes of the new interfaces, errcodes of the old ones."""

from http import HTTPStatus
from typing import Final

BAD_CODE: Final = "invalidParameter.authCode.notFound"
BAD_SECRET: Final = "invalidClientIdOrSecret"
BAD_GRANT: Final = "invalidParameter.grantType"
BAD_TOKEN: Final = "InvalidAuthentication"
NO_RIGHT: Final = "Forbidden.AccessDenied.AccessTokenPermissionDenied"
TOO_OFTEN: Final = "Forbidden.AccessDenied.QpsLimitForAppkeyAndApi"
BAD_ADDRESS: Final = "Forbidden.AccessDenied.IpNotInWhiteList"

CODES: Final = {
    BAD_CODE: (HTTPStatus.BAD_REQUEST, "不合法的临时授权码"),
    BAD_SECRET: (HTTPStatus.BAD_REQUEST, "无效的clientId或者clientSecret"),
    BAD_GRANT: (HTTPStatus.BAD_REQUEST, "不合法的grantType"),
    BAD_TOKEN: (HTTPStatus.UNAUTHORIZED, "不合法的access_token"),
    NO_RIGHT: (HTTPStatus.FORBIDDEN, "应用尚未开通所需的权限"),
    TOO_OFTEN: (HTTPStatus.FORBIDDEN, "请求过于频繁"),
    BAD_ADDRESS: (HTTPStatus.FORBIDDEN, "访问ip不在白名单之中"),
}
"""Statuses and messages of the new interfaces."""

BUSY: Final = -1
FORBIDDEN: Final = 88
OLD_BAD_TOKEN: Final = 40014
OLD_BAD_CODE: Final = 40078
OLD_TOKEN_EXPIRED: Final = 42001
OLD_NO_RIGHT: Final = 60011
OLD_BAD_ADDRESS: Final = 60020
NO_MEMBER: Final = 60121
OLD_TOO_OFTEN: Final = 90018

ERRCODES: Final = {
    BUSY: "系统繁忙",
    FORBIDDEN: "ding talk error",
    OLD_BAD_TOKEN: "不合法的access_token",
    OLD_BAD_CODE: "不存在的临时授权码",
    OLD_TOKEN_EXPIRED: "access_token超时",
    OLD_NO_RIGHT: "没有调用该接口的权限",
    OLD_BAD_ADDRESS: "访问ip不在白名单之中",
    NO_MEMBER: "找不到该用户",
    OLD_TOO_OFTEN: "您的服务器调用钉钉开放平台所有接口的请求都被暂时禁用了",
}
"""Messages of the old interfaces."""


class NewRefusal(Exception):
    """An error response of a new interface."""

    def __init__(self, code: str) -> None:
        self.status, message = CODES[code]
        super().__init__(message)
        self.code = code


class OldRefusal(Exception):
    """An error response of an old interface.

    Args:
        sub_code: the cause of an errcode 88.
    """

    def __init__(self, errcode: int, *, sub_code: int | None = None) -> None:
        super().__init__(ERRCODES[errcode])
        self.errcode = errcode
        self.sub_code = sub_code
