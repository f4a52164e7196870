"""The one URL of a server: a POST with a message, answered by JSON."""

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from strongroom_mcp.protocol.headers import accepts_json, is_json, is_own_origin
from strongroom_mcp.protocol.messages import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    MISSING_CAPABILITY,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    ProtocolError,
    make_error,
    make_result,
    read_id,
    read_message,
    read_object,
)
from strongroom_mcp.protocol.revisions import STATELESS, find_revision
from strongroom_mcp.protocol.server import Server

MAX_BODY: Final = 1024 * 1024
"""The maximum size of a request in bytes."""

_STATUSES: Final = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    INVALID_PARAMS: 400,
    HEADER_MISMATCH: 400,
    MISSING_CAPABILITY: 400,
    UNSUPPORTED_VERSION: 400,
    METHOD_NOT_FOUND: 404,
}
_OK: Final = 200


@dataclass(frozen=True, slots=True)
class HttpReply:
    """A response. Without a body, it has no media type."""

    status: int
    body: Mapping[str, Any] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def content(self) -> bytes:
        """The bytes of the body."""
        return b"" if self.body is None else json.dumps(self.body, separators=(",", ":")).encode()


class Endpoint:
    """Checks requests and answers them.

    Args:
        origins: the origins of pages whose scripts may send requests, in lower case.
    """

    def __init__(self, server: Server, origins: Collection[str]) -> None:
        self._server = server
        self._origins = frozenset(origins)

    def refuse(self, method: str, headers: Mapping[str, str]) -> HttpReply | None:
        """Return the refusal of a request that needs no caller, or ``None``.

        Args:
            headers: the headers with their names in lower case.
        """
        if not is_own_origin(headers.get("origin"), self._origins):
            return refusal(403, "The origin of the page is not allowed.")
        if method != "POST":
            return refusal(405, "Only POST is allowed.", {"Allow": "POST"})
        return None

    def answer(self, headers: Mapping[str, str], body: bytes) -> HttpReply:
        """Return the response to a POST of a known caller."""
        if not accepts_json(headers.get("accept")):
            return refusal(406, "Accept must have application/json and text/event-stream.")
        if not is_json(headers.get("content-type")):
            return refusal(415, "Content-Type must be application/json.")
        value: Mapping[str, Any] = {}
        try:
            value = read_object(body)
            message = read_message(value)
            revision = find_revision(message, headers)
        except ProtocolError as error:
            return _failure(value, error)
        if message.id is None:
            # Notifications concern state, and there is none.
            return HttpReply(202)
        try:
            return HttpReply(_OK, make_result(message.id, self._server.answer(message, revision)))
        except ProtocolError as error:
            # Older clients take 404 for the end of their session.
            status = None if revision == STATELESS else _OK
            return _failure(value, error, status)


def _failure(value: Mapping[str, Any], error: ProtocolError, status: int | None = None) -> HttpReply:
    return HttpReply(status or _STATUSES.get(error.code, _OK), make_error(read_id(value), error))


def refusal(status: int, message: str, headers: Mapping[str, str] | None = None) -> HttpReply:
    """Return the refusal of a request whatever its message is."""
    return HttpReply(status, make_error(None, ProtocolError(INVALID_REQUEST, message)), headers or {})
