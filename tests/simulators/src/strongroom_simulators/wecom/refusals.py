"""The errcodes of the platform and their messages."""

from typing import Final

BUSY: Final = -1
INVALID_SECRET: Final = 40001
INVALID_CORPID: Final = 40013
INVALID_TOKEN: Final = 40014
INVALID_CODE: Final = 40029
MISSING_TOKEN: Final = 41001
TOKEN_EXPIRED: Final = 42001
TOO_OFTEN: Final = 45009
UNTRUSTED_DOMAIN: Final = 50001
NO_PRIVILEGE: Final = 60011
UNTRUSTED_ADDRESS: Final = 60020
NO_SUCH_MEMBER: Final = 60111
TICKET_EXPIRED: Final = 84014
INVALID_TICKET: Final = 84015
NO_RIGHT: Final = 301002

MESSAGES: Final = {
    BUSY: "system busy",
    INVALID_SECRET: "invalid credential",
    INVALID_CORPID: "invalid corpid",
    INVALID_TOKEN: "invalid access_token",
    INVALID_CODE: "invalid code",
    MISSING_TOKEN: "access_token missing",
    TOKEN_EXPIRED: "access_token expired",
    TOO_OFTEN: "api freq out of limit",
    UNTRUSTED_DOMAIN: "redirect_url not in the domains of the app",
    NO_PRIVILEGE: "no privilege to access/modify contact/party/agent",
    UNTRUSTED_ADDRESS: "not allow to access from your ip",
    NO_SUCH_MEMBER: "userid not found",
    TICKET_EXPIRED: "user_ticket expired",
    INVALID_TICKET: "invalid user_ticket",
    NO_RIGHT: "not allow operate another agent with this accesstoken",
}


def message_of(errcode: int, address: str = "127.0.0.1") -> str:
    """Return the ``errmsg``: the reason, an id of the request, and the address of the caller."""
    text = MESSAGES.get(errcode, "an undocumented error")
    more = f"more info at https://open.work.weixin.qq.com/devtool/query?e={errcode}"
    return f"{text}, hint: [1700000000_1_0123456789abcdef], from ip: {address}, {more}"


class Refusal(Exception):
    """An error response with an errcode."""

    def __init__(self, errcode: int) -> None:
        super().__init__(MESSAGES[errcode])
        self.errcode = errcode
