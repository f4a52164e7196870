"""JSON-RPC 2.0 messages: one request or one notification in a body, no batches."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
RESOURCE_NOT_FOUND: Final = -32002
"""Of revisions with a handshake; later ones have ``INVALID_PARAMS`` for it."""
HEADER_MISMATCH: Final = -32020
MISSING_CAPABILITY: Final = -32021
UNSUPPORTED_VERSION: Final = -32022

MAX_ID: Final = 256
"""The maximum length of an id that is a text."""


class ProtocolError(Exception):
    """An error response of JSON-RPC.

    Args:
        code: the number of the error.
        message: one sentence for the developer of the client.
        data: a JSON value with details.
    """

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data = code, message, data


@dataclass(frozen=True, slots=True)
class Message:
    """A request, or a notification if it has no id."""

    method: str
    params: Mapping[str, Any] = field(default_factory=dict)
    id: int | str | None = None

    @property
    def meta(self) -> Mapping[str, Any]:
        """The member ``_meta`` of the parameters; empty if it is missing or no object."""
        meta = self.params.get("_meta")
        return meta if isinstance(meta, dict) else {}


def read_object(body: bytes) -> Mapping[str, Any]:
    """Return the JSON object in a body.

    Raises:
        ProtocolError: it is no JSON, has a text that is no Unicode, or is no object.
    """
    try:
        value = json.loads(body.decode(), parse_constant=_refuse_constant)
        if b"\\u" in body:
            # An escaped half of a surrogate pair can be neither stored nor sent.
            json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError) as error:
        raise ProtocolError(PARSE_ERROR, "The body is not valid JSON in UTF-8.") from error
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_REQUEST, "The body must be one object; batches are refused.")
    return value


def read_message(value: Mapping[str, Any]) -> Message:
    """Return the request or notification in a JSON object.

    Raises:
        ProtocolError: it is neither.
    """
    method, params = value.get("method"), value.get("params", {})
    if value.get("jsonrpc") != "2.0" or not isinstance(method, str):
        raise ProtocolError(INVALID_REQUEST, 'A request has "jsonrpc": "2.0" and a method.')
    if "id" in value and read_id(value) is None:
        raise ProtocolError(INVALID_REQUEST, f"An id is an integer or at most {MAX_ID} characters.")
    if not isinstance(params, dict):
        raise ProtocolError(INVALID_PARAMS, "The member params must be an object.")
    return Message(method, params, read_id(value))


def read_id(value: Mapping[str, Any]) -> int | str | None:
    """Return the id of a message; ``None`` without a valid one."""
    id_ = value.get("id")
    if isinstance(id_, str) and len(id_) <= MAX_ID:
        return id_
    return id_ if isinstance(id_, int) and not isinstance(id_, bool) else None


def make_result(id_: int | str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response with a result."""
    return {"jsonrpc": "2.0", "id": id_, "result": result}


def make_error(id_: int | str | None, error: ProtocolError) -> dict[str, Any]:
    """Return the response with an error; without an id if the request has no valid one."""
    details: dict[str, Any] = {"code": error.code, "message": error.message}
    if error.data is not None:
        details["data"] = error.data
    request_id = {} if id_ is None else {"id": id_}
    return {"jsonrpc": "2.0", **request_id, "error": details}


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
