"""Requests, responses and errors, independent of the HTTP server."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ApiRequest:
    """A request to the gateway.

    Args:
        method: ``GET`` or ``POST``.
        path: ``/`` for every action of this API.
        query: the decoded parameters of the URL.
        form: the decoded parameters of the body.
        headers: the header fields by lowercase name.
        body: the raw body.
    """

    method: str
    path: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def parameters(self) -> Mapping[str, str]:
        """All parameters, of the URL and the body."""
        return {**self.form, **self.query}


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """A response of the gateway: a status and a JSON body."""

    status: int
    body: Mapping[str, Any]


class ApiError(Exception):
    """An error of the API's documentation.

    Args:
        code: the documented error code.
        message: the documented message.
        status: 400 or 404 for errors of the API gateway; the SMS service behind it returns its own
            errors with status 200.
    """

    def __init__(self, code: str, message: str, *, status: int = 200) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.status = status

    def response(self) -> ApiResponse:
        """Return the error response."""
        return ApiResponse(
            self.status, {"RequestId": new_request_id(), "Code": self.code, "Message": self.message}
        )


def new_request_id() -> str:
    """Return a new request id, in the vendor's format."""
    return str(uuid.uuid4()).upper()
