"""The error codes of the platform with their statuses and messages."""

from typing import Final

MISSING_PARAMETER: Final = 20001
INVALID_SECRET: Final = 20002
UNKNOWN_CODE: Final = 20003
CODE_EXPIRED: Final = 20004
UNKNOWN_USER: Final = 20008
NOT_INSTALLED: Final = 20009
NO_RIGHT_TO_USE: Final = 20010
CODE_OF_ANOTHER_APP: Final = 20024
UNSUPPORTED_GRANT: Final = 20036
UNKNOWN_APP: Final = 20048
PKCE_FAILED: Final = 20049
SERVER_ERROR: Final = 20050
MALFORMED: Final = 20063
CODE_USED: Final = 20065
USER_STATUS: Final = 20066
APP_DISABLED: Final = 20069
TWO_AUTHENTICATIONS: Final = 20070
REDIRECT_MISMATCH: Final = 20071
UNAVAILABLE: Final = 20072

WRONG_APP_SECRET: Final = 10014
INVALID_PARAMETER: Final = 40001
INVALID_USER_ID: Final = 41012
NO_USER_AUTHORITY: Final = 41050
RATE_LIMITED: Final = 99991400
MISSING_TOKEN: Final = 99991661
INVALID_APP_TOKEN: Final = 99991663
INVALID_USER_TOKEN: Final = 99991668
MISSING_SCOPE: Final = 99991672
USER_TOKEN_EXPIRED: Final = 99991677

ANSWERS: Final[dict[int, tuple[int, str]]] = {
    MISSING_PARAMETER: (400, "The request is missing a required parameter."),
    INVALID_SECRET: (400, "The client secret is invalid."),
    UNKNOWN_CODE: (400, "The authorization code is not found."),
    CODE_EXPIRED: (400, "The authorization code has expired."),
    UNKNOWN_USER: (400, "The user does not exist."),
    NOT_INSTALLED: (400, "The specified app is not installed."),
    NO_RIGHT_TO_USE: (400, "The user does not have permission to use this app."),
    CODE_OF_ANOTHER_APP: (400, "The provided authorization code does not match the client ID."),
    UNSUPPORTED_GRANT: (400, "The specified grant_type is not supported."),
    UNKNOWN_APP: (400, "The specified app does not exist."),
    PKCE_FAILED: (400, "PKCE code challenge failed."),
    SERVER_ERROR: (500, "An unexpected server error occurred. Please retry your request."),
    MALFORMED: (400, "The request is malformed. Please check your request."),
    CODE_USED: (400, "The authorization code has been used."),
    USER_STATUS: (400, "The user status is invalid."),
    APP_DISABLED: (400, "The specified app is not enabled."),
    TWO_AUTHENTICATIONS: (400, "Multiple authentication methods were provided."),
    REDIRECT_MISMATCH: (400, "The redirect URI does not match the one used during authorization."),
    UNAVAILABLE: (503, "The server is temporarily unavailable. Please retry your request."),
    WRONG_APP_SECRET: (200, "app secret invalid"),
    INVALID_PARAMETER: (400, "invalid parameter"),
    INVALID_USER_ID: (400, "user id invalid error"),
    NO_USER_AUTHORITY: (400, "no user authority error"),
    RATE_LIMITED: (400, "request trigger frequency limit"),
    MISSING_TOKEN: (400, "Missing access token for authorization."),
    INVALID_APP_TOKEN: (400, "Invalid access token for authorization."),
    INVALID_USER_TOKEN: (400, "Invalid access token for authorization."),
    MISSING_SCOPE: (400, "Access denied. One of the following scopes is required."),
    USER_TOKEN_EXPIRED: (401, "Authentication token expired"),
}
"""Status and message by code."""

_ERRORS: Final = {
    MISSING_PARAMETER: "invalid_request",
    INVALID_SECRET: "invalid_client",
    UNKNOWN_APP: "invalid_client",
    UNSUPPORTED_GRANT: "unsupported_grant_type",
    SERVER_ERROR: "server_error",
    UNAVAILABLE: "temporarily_unavailable",
    MALFORMED: "invalid_request",
    TWO_AUTHENTICATIONS: "invalid_request",
}


class Refusal(Exception):
    """An error response of an interface: ``{code, msg}``."""

    def __init__(self, code: int) -> None:
        self.status, self.message = ANSWERS[code]
        super().__init__(self.message)
        self.code = code

    @property
    def members(self) -> dict[str, object]:
        """The members of the response."""
        return {"code": self.code, "msg": self.message}


class TokenRefusal(Refusal):
    """An error response of a token endpoint: ``{code, error, error_description}``."""

    @property
    def members(self) -> dict[str, object]:
        error = _ERRORS.get(self.code, "invalid_grant")
        return {"code": self.code, "error": error, "error_description": self.message}
