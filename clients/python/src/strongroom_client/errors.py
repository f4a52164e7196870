"""The errors of the client. Errors of the server have one class per code, in ``_catalogue``."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import msgspec


class StrongroomError(Exception):
    """Base class of all errors that the client raises."""


class ConnectionFailed(StrongroomError):
    """The server could not be reached, or the connection broke before the response was complete."""


class NotLoggedIn(StrongroomError):
    """The operation needs a login, and the client has none; see :meth:`Client.log_in`."""


class BrowserLoginFailed(StrongroomError):
    """The login page of the server is not available to this program, or no login came back."""


class DeviceLoginFailed(StrongroomError):
    """The server offers no login by a code, or no user allowed it in time."""


class UnexpectedResponse(StrongroomError):
    """The response is not one of a Strongroom server, or of a version that this client does not know."""


class IntegrityError(StrongroomError):
    """The transferred content differs from the file."""


class SourceChanged(StrongroomError):
    """The local file was changed while it was sent."""


class FieldError(msgspec.Struct, frozen=True):
    """The error of one field of a request."""

    field: str
    code: str
    message: str


class ApiError(StrongroomError):
    """An error response.

    Args:
        status: the HTTP status.
        code: stable and machine-readable, such as ``error.not-found``.
        message: for developers; may change.
        details: the invalid fields.
        request_id: identifies the request in the server's log.
        retry_after: seconds until the next attempt may succeed.
        body: the whole body, such as the ``challenge`` of a second factor.
    """

    codes: ClassVar[dict[str, type["ApiError"]]] = {}
    """The class of each code."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        details: Sequence[FieldError] = (),
        request_id: str = "",
        retry_after: float | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.status = status
        self.code = code
        self.message = message
        self.details = tuple(details)
        self.request_id = request_id
        self.retry_after = retry_after
        self.body = body or {}

    def __init_subclass__(cls, *, code: str | None = None) -> None:
        super().__init_subclass__()
        if code is not None:
            cls.codes[code] = cls

    @property
    def field(self) -> str | None:
        """The first invalid field."""
        return self.details[0].field if self.details else None

    @property
    def challenge(self) -> Mapping[str, Any]:
        """What a second factor has to answer: ``id``, ``methods`` and ``expiresAt``."""
        challenge: Mapping[str, Any] = self.body.get("challenge", {})
        return challenge

    @staticmethod
    def from_response(status: int, headers: Mapping[str, str], content: bytes) -> "ApiError":
        """Return the error of a response, as the class of its code, or else of its status."""
        body, error = _parsed(status, content)
        kind = ApiError.codes.get(error.code) or _class_of_status(status)
        return kind(
            status,
            error.code,
            error.message,
            details=error.details,
            request_id=error.request_id or headers.get("X-Request-Id", ""),
            retry_after=_seconds(headers.get("Retry-After")),
            body=body,
        )


class BadRequestError(ApiError):
    """The request is wrong: 400 and the other statuses below 500 without a class of their own."""


class UnauthorizedError(ApiError):
    """401: the login is missing, has ended or is too weak."""


class ForbiddenError(ApiError):
    """403: the caller may not do this."""


class NotFoundError(ApiError):
    """404 and 410: the resource does not exist, or the caller cannot see it."""


class ConflictError(ApiError):
    """409, 412 and 423: the resource is in another state than the request expects."""


class RateLimitedError(ApiError):
    """429: too many requests; see ``retry_after``."""


class ServerError(ApiError):
    """5xx: the server or one of its back ends failed; see ``retry_after``."""


_FAMILIES: dict[int, type[ApiError]] = {
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: NotFoundError,
    412: ConflictError,
    423: ConflictError,
    429: RateLimitedError,
}
_SERVER_ERRORS = 500


class _Error(msgspec.Struct, rename="camel"):
    code: str
    message: str
    details: list[FieldError] = []
    request_id: str = ""


def _class_of_status(status: int) -> type[ApiError]:
    return _FAMILIES.get(status, ServerError if status >= _SERVER_ERRORS else BadRequestError)


def _parsed(status: int, content: bytes) -> tuple[dict[str, Any], _Error]:
    """Return the body of an error; a proxy in front of the server may send one of its own."""
    try:
        body = msgspec.json.decode(content, type=dict[str, Any])
        if isinstance(code := body.get("error"), str):
            # Of an endpoint of OAuth (RFC 6749, section 5.2).
            return body, _Error(code, str(body.get("error_description", "")))
        return body, msgspec.convert(body.get("error"), _Error)
    except (msgspec.DecodeError, msgspec.ValidationError):
        return {}, _Error("error.unknown", f"No Strongroom server answered: status {status}.")


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdigit() else None
