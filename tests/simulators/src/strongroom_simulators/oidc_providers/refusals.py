"""Reasons of refusals, and the answers of a provider that follows the standards."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from http import HTTPStatus
from typing import Final


class Reason(Enum):
    """Why a request is refused."""

    CLIENT_WRONG = auto()
    REQUEST_WRONG = auto()
    GRANT_TYPE_WRONG = auto()
    RESPONSE_TYPE_WRONG = auto()
    SCOPE_WRONG = auto()
    CODE_UNKNOWN = auto()
    CODE_USED = auto()
    CODE_EXPIRED = auto()
    REDIRECT_WRONG = auto()
    VERIFIER_WRONG = auto()
    TOKEN_WRONG = auto()
    ACCESS_DENIED = auto()
    AUDIENCE_WRONG = auto()


@dataclass(frozen=True, slots=True)
class ErrorAnswer:
    """Status, ``error`` and ``error_description`` of a refusal."""

    error: str | int
    description: str
    status: int = HTTPStatus.BAD_REQUEST


STANDARD: Final[Mapping[Reason, ErrorAnswer]] = {
    Reason.CLIENT_WRONG: ErrorAnswer("invalid_client", "Client authentication failed.", 401),
    Reason.REQUEST_WRONG: ErrorAnswer("invalid_request", "A parameter is absent or wrong."),
    Reason.GRANT_TYPE_WRONG: ErrorAnswer("unsupported_grant_type", "Unsupported grant type."),
    Reason.RESPONSE_TYPE_WRONG: ErrorAnswer("unsupported_response_type", "Unsupported response type."),
    Reason.SCOPE_WRONG: ErrorAnswer("invalid_scope", "The scope is unknown."),
    Reason.CODE_UNKNOWN: ErrorAnswer("invalid_grant", "The code is unknown."),
    Reason.CODE_USED: ErrorAnswer("invalid_grant", "The code was used."),
    Reason.CODE_EXPIRED: ErrorAnswer("invalid_grant", "The code has expired."),
    Reason.REDIRECT_WRONG: ErrorAnswer("invalid_grant", "The redirect_uri differs."),
    Reason.VERIFIER_WRONG: ErrorAnswer("invalid_grant", "PKCE verification failed."),
    Reason.TOKEN_WRONG: ErrorAnswer("invalid_token", "The access token is invalid.", 401),
    Reason.ACCESS_DENIED: ErrorAnswer("access_denied", "The person refused."),
    Reason.AUDIENCE_WRONG: ErrorAnswer("access_denied", "The account is not accepted."),
}
"""Errors of RFC 6749 (4.1.2.1, 5.2) and RFC 6750 (3.1)."""


class Refusal(Exception):
    """A request that the provider refuses."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(reason.name)
        self.reason = reason


class PageRefusal(Exception):
    """An authorization request that ends on a page of the provider, without a redirect."""
