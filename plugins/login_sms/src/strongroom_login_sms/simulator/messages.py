"""What comes in and what goes out, free of any server."""

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
        query: the parameters of the URL, decoded.
        form: the parameters of the body, decoded.
        headers: by lowercase name.
        body: as it came.
    """

    method: str
    path: str
    query: Mapping[str, str]
    form: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def parameters(self) -> Mapping[str, str]:
        """All parameters, wherever they stood."""
        return {**self.form, **self.query}


@dataclass(frozen=True, slots=True)
class ApiResponse:
    """An answer of the gateway: a status and a JSON body."""

    status: int
    body: Mapping[str, Any]


class ApiError(Exception):
    """A refusal, as the API's documentation words it.

    Args:
        code: the documented error code.
        message: the documented message.
        status: 400 or 404 for what the API's front door refuses; the SMS service behind it reports
            its own errors with status 200.
    """

    def __init__(self, code: str, message: str, *, status: int = 200) -> None:
        super().__init__(code)
        self.code = code
        self.message = message
        self.status = status

    def response(self) -> ApiResponse:
        """Return the refusal as an answer."""
        return ApiResponse(
            self.status, {"RequestId": new_request_id(), "Code": self.code, "Message": self.message}
        )


def new_request_id() -> str:
    """Return an id as the vendor's support asks for it."""
    return str(uuid.uuid4()).upper()
