"""Error responses: one JSON body for all errors, without internals of the server."""

import logging
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from flask import Flask, Response, g, jsonify, request
from marshmallow import Schema, fields
from werkzeug.exceptions import HTTPException
from werkzeug.routing import RequestRedirect

from strongroom import errors
from strongroom.errors import Detail, RangeNotSatisfiable, StrongroomError
from strongroom.plugin_api.storage import StorageFull, StorageUnavailable
from strongroom.plugin_api.web import ApiError
from strongroom.telemetry.error_log import ErrorLog
from strongroom.web.components import use
from strongroom.web.requests import PublicUrl

logger = logging.getLogger(__name__)

_BY_STATUS: Mapping[int, type[StrongroomError]] = {
    400: errors.MalformedRequest,
    401: errors.TokenRequired,
    403: errors.Forbidden,
    404: errors.NotFound,
    405: errors.MethodNotAllowed,
    406: errors.NotAcceptable,
    412: errors.PreconditionFailed,
    413: errors.PayloadTooLarge,
    415: errors.UnsupportedMediaType,
    429: errors.TooManyRequests,
    501: errors.NotImplementedHere,
    503: errors.Unavailable,
}


class DetailSchema(Schema):
    """The error of one field."""

    field = fields.String(required=True)
    code = fields.String(required=True)
    message = fields.String(required=True)


class ErrorMemberSchema(Schema):
    """An error."""

    code = fields.String(required=True, metadata={"description": "Stable and machine-readable"})
    message = fields.String(required=True, metadata={"description": "For developers; may change"})
    details = fields.List(fields.Nested(DetailSchema), required=True)
    requestId = fields.String(required=True)


class ErrorSchema(Schema):
    """The body of every error."""

    error = fields.Nested(ErrorMemberSchema, required=True)


def register_error_handlers(app: Flask) -> None:
    """Convert every exception of a request to an error response."""
    app.register_error_handler(StrongroomError, answer)
    app.register_error_handler(ApiError, answer)
    # Flask does not pass its own redirects to error handlers.
    app.after_request(_replace_redirect)
    app.register_error_handler(errors.Unavailable, _answer_unavailable)
    app.register_error_handler(StorageUnavailable, _answer_storage_away)
    app.register_error_handler(StorageFull, _answer_storage_full)
    unexpected = ErrorLog(logger)

    def answer_unexpected(error: Exception) -> Response:
        unexpected.log(error, "Unexpected error in request %s", g.request_id)
        return answer(errors.InternalError())

    def answer_http(error: HTTPException) -> Response:
        return _answer_http(error) or answer_unexpected(error)

    app.register_error_handler(HTTPException, answer_http)
    app.register_error_handler(Exception, answer_unexpected)


def answer(error: StrongroomError | ApiError) -> Response:
    """Return the error response of an exception."""
    body = {
        "code": error.code,
        "message": _encodable(str(error)),
        "details": [
            {
                "field": _encodable(item.field),
                "code": item.code,
                "message": _encodable(item.message),
            }
            for item in error.details
        ],
        "requestId": g.request_id,
    }
    response = jsonify({"error": body})
    response.status_code = error.status
    _add_headers(response, error)
    return response


def _add_headers(response: Response, error: StrongroomError | ApiError) -> None:
    if error.status == errors.TokenRequired.status:
        challenge = 'Bearer realm="strongroom"'
        invalid = isinstance(error, errors.TokenInvalid)
        response.headers["WWW-Authenticate"] = (
            f'{challenge}, error="invalid_token"' if invalid else challenge
        )
    if isinstance(error, StrongroomError) and error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, RangeNotSatisfiable):
        response.headers["Content-Range"] = f"bytes */{error.size}"


def _answer_http(error: HTTPException) -> Response | None:
    """Return the response to a client error of Flask or Werkzeug, or ``None`` for a server error."""
    messages = getattr(error, "data", {}).get("messages", {})
    if messages:
        return answer(errors.ValidationFailed(details=list(_details(messages))))
    kind = _BY_STATUS.get(error.code or 500)
    if kind is None:
        return None
    response = answer(kind())
    if allow := dict(error.get_headers()).get("Allow"):
        response.headers["Allow"] = allow
    return response


def _replace_redirect(response: Response) -> Response:
    redirect = request.routing_exception
    if not isinstance(redirect, RequestRedirect):
        return response
    # Werkzeug builds the URL from the Host header, which the client controls, so only its path is used.
    target = urlsplit(redirect.new_url)
    response = answer(errors.MovedPermanently())
    response.headers["Location"] = use(PublicUrl).root + urlunsplit(("", "", *target[2:]))
    return response


def _details(messages: Mapping[str, Any]) -> Iterator[Detail]:
    for faults in messages.values():
        yield from _walk(faults, "")


def _walk(faults: Any, path: str) -> Iterator[Detail]:
    if isinstance(faults, Mapping):
        for key, value in faults.items():
            name = "" if key == "_schema" else str(key)
            yield from _walk(value, ".".join(part for part in (path, name) if part))
    else:
        for message in faults:
            code, text = _CODES.get(message, ("invalid", message))
            yield Detail(path, code, text)


_CODES: Mapping[str, tuple[str, str]] = {
    "Missing data for required field.": ("required", "The field is required."),
    "Unknown field.": ("unknown-field", "Unknown field."),
    "Field may not be null.": ("null", "The field may not be null."),
}


def _answer_storage_full(error: StorageFull) -> Response:
    logger.error("Storage full: %s (request %s)", error, g.request_id)
    return answer(errors.StorageFull())


def _answer_unavailable(error: errors.Unavailable) -> Response:
    # /readyz has details and is called every few seconds, so logging it would flood the log.
    if not error.details:
        logger.warning("Responded 503, raised by %s (request %s)", _origin(error), g.request_id)
    return answer(error)


def _origin(error: Exception) -> str:
    """Return the module that raised an error, as a hint which part is unavailable."""
    trace, name = error.__traceback__, "an unknown part"
    while trace is not None:
        name, trace = trace.tb_frame.f_globals.get("__name__", name), trace.tb_next
    return name


def _answer_storage_away(error: StorageUnavailable) -> Response:
    logger.warning("Storage unavailable: %s (request %s)", error, g.request_id)
    return answer(errors.Unavailable(retry_after=error.retry_after))


def _encodable(text: str) -> str:
    """Escape lone surrogates, which UTF-8 cannot encode."""
    return text.encode(errors="backslashreplace").decode()
