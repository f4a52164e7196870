"""Error responses: one JSON body for all errors, without internals of the server."""

import logging
from collections.abc import Mapping
from typing import Final, Protocol

import flask
from marshmallow import Schema, fields
from werkzeug.exceptions import HTTPException

from strongroom.foundation import errors
from strongroom.foundation.errors import RangeNotSatisfiable, StrongroomError, error_json
from strongroom.foundation.logs import ErrorLog
from strongroom.plugin_api.schemas import Timestamp
from strongroom.plugin_api.storage import StorageFull, StorageUnavailable
from strongroom.plugin_api.web import ApiError
from strongroom.web.http.authenticators import current_challenges
from strongroom.web.http.languages import response_locale, translator
from strongroom.web.http.request import get_service, has_service, request_id
from strongroom.web.http.response import Response, json_response

logger = logging.getLogger(__name__)

_RETRY_SECONDS: Final = 10
"""The Retry-After of a 503 whose kind has none."""

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

    field = fields.String(
        required=True,
        metadata={
            "description": "The member or parameter, with dots for nested ones; empty: the whole body"
        },
    )
    code = fields.String(
        required=True, metadata={"description": "What is wrong, such as `required` or `invalid`"}
    )
    message = fields.String(
        required=True, metadata={"description": "What is wrong, for developers; may change"}
    )


class ErrorMemberSchema(Schema):
    """What went wrong: a code for programs, and a text for developers."""

    code = fields.String(required=True, metadata={"description": "Stable and machine-readable"})
    message = fields.String(required=True, metadata={"description": "For developers; may change"})
    details = fields.List(
        fields.Nested(DetailSchema),
        required=True,
        metadata={"description": "The faults of single members and parameters; often empty"},
    )
    requestId = fields.String(
        required=True,
        metadata={"description": "`X-Request-Id` of the response, which is in the server's log, too"},
    )


class HoldReasonSchema(Schema):
    """The hold that a removal is refused for."""

    reason = fields.String(
        required=True, metadata={"description": "Why an administrator placed the hold"}
    )
    until = Timestamp(
        required=True,
        allow_none=True,
        metadata={"description": "When the hold ends; `null`: when it is released"},
    )


class LockHolderSchema(Schema):
    """The user who holds a lock."""

    id = fields.String(required=True, metadata={"description": "Identifies the user"})
    name = fields.String(required=True, metadata={"description": "The display name, or empty"})


class LockFaultSchema(Schema):
    """The lock that a change is refused for."""

    lockedBy = fields.Nested(
        LockHolderSchema,
        required=True,
        allow_none=True,
        metadata={"description": "Who holds the lock; `null` if it is unknown"},
    )
    expiresAt = Timestamp(required=True, metadata={"description": "When the lock ends"})


class ErrorSchema(Schema):
    """The body of every error."""

    error = fields.Nested(ErrorMemberSchema, required=True, metadata={"description": "What went wrong"})
    challenge = fields.Dict(
        keys=fields.String(),
        metadata={
            "description": "Only with `error.second-factor-required`: `id`, `methods`, `expiresAt`"
        },
    )
    enrolment = fields.Dict(
        keys=fields.String(),
        metadata={"description": "Only with `error.second-factor-enrolment-required`"},
    )
    consent = fields.Dict(
        keys=fields.String(),
        metadata={
            "description": "Only with `error.terms-not-accepted`: `version`, `termsUrl`, `privacyUrl`, "
            "and `id` and `expiresAt` if a login can continue"
        },
    )
    hold = fields.Nested(HoldReasonSchema, metadata={"description": "Only with `error.held`"})
    retainedUntil = Timestamp(metadata={"description": "Only with `error.retained`"})
    lock = fields.Nested(LockFaultSchema, metadata={"description": "Only with `error.file-locked`"})


class ErrorNegotiation(Protocol):
    """Chooses the representation of an error. A server without pages responds with JSON alone."""

    def __call__(self, error: ApiError, response: flask.Response) -> flask.Response:
        """Return a page for people who navigate, and the response for programs.

        Args:
            response: the error as JSON.
        """


def register_error_handlers(app: flask.Flask) -> None:
    """Convert every exception of a request to an error response."""
    app.register_error_handler(ApiError, _respond)
    app.register_error_handler(errors.Unavailable, _unavailable)
    app.register_error_handler(StorageUnavailable, _storage_unavailable)
    app.register_error_handler(StorageFull, _storage_full)
    unexpected = ErrorLog(logger)

    def internal_error(error: Exception) -> flask.Response:
        unexpected.log(error, "Unexpected error in request %s", request_id())
        return _respond(errors.InternalError())

    def http_error(error: HTTPException) -> flask.Response:
        return _client_error(error) or internal_error(error)

    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(Exception, internal_error)


def _respond(error: ApiError) -> flask.Response:
    response = error_response(error)
    if not has_service(ErrorNegotiation):
        return response
    return get_service(ErrorNegotiation)(error, response)


def error_response(error: ApiError) -> Response:
    """Return an error as JSON, in the language of the client."""
    locale = response_locale()
    body = error_json(error, request_id(), translator(locale))
    return json_response(body, error.status, {**_headers(error), **_language_headers(locale)})


def _language_headers(locale: str) -> dict[str, str]:
    return {"Content-Language": locale, "Vary": "Accept-Language"}


def _headers(error: ApiError) -> dict[str, str]:
    headers = {}
    if error.status == errors.TokenRequired.status:
        headers["WWW-Authenticate"] = ", ".join((*current_challenges(), _bearer_challenge(error)))
    if isinstance(error, errors.InsufficientScope):
        headers["WWW-Authenticate"] = _bearer_challenge(error)
    if error.retry_after is not None:
        headers["Retry-After"] = str(error.retry_after)
    elif error.status == errors.Unavailable.status:
        headers["Retry-After"] = str(_RETRY_SECONDS)
    if isinstance(error, errors.UnsupportedCoding):
        headers["Accept-Encoding"] = "identity"
    if isinstance(error, RangeNotSatisfiable):
        headers["Content-Range"] = f"bytes */{error.size}"
    return headers


def _bearer_challenge(error: ApiError) -> str:
    """Return the challenge of a refusal (RFC 6750, section 3; RFC 9470, section 3)."""
    challenge = 'Bearer realm="strongroom"'
    if isinstance(error, errors.TokenInvalid):
        return f'{challenge}, error="invalid_token"'
    if isinstance(error, errors.StepUpRequired):
        needed = {"acr_values": error.acr_values, "max_age": error.max_age}
        stated = [f'{name}="{value}"' for name, value in needed.items() if value is not None]
        return ", ".join((f'{challenge}, error="insufficient_user_authentication"', *stated))
    if isinstance(error, errors.InsufficientScope):
        return f'{challenge}, error="insufficient_scope", scope="{error.scope}"'
    return challenge


def _client_error(error: HTTPException) -> flask.Response | None:
    """Return the response to a client error of Flask or Werkzeug, or ``None`` for a server error."""
    kind = _BY_STATUS.get(error.code or 500)
    if kind is None:
        return None
    response = _respond(kind())
    if allow := dict(error.get_headers()).get("Allow"):
        response.headers["Allow"] = allow
    return response


def _storage_full(error: StorageFull) -> flask.Response:
    logger.error("Storage full: %s (request %s)", error, request_id())
    return _respond(errors.StorageFull())


def _storage_unavailable(error: StorageUnavailable) -> flask.Response:
    logger.warning("Storage unavailable: %s (request %s)", error, request_id())
    return _respond(errors.Unavailable(retry_after=error.retry_after))


def _unavailable(error: errors.Unavailable) -> flask.Response:
    # /readyz has details and is called every few seconds, so logging it would flood the log.
    if not error.details:
        logger.warning("Responded 503, raised by %s (request %s)", _origin(error), request_id())
    return _respond(error)


def _origin(error: Exception) -> str:
    """Return the module that raised an error, as a hint which part is unavailable."""
    trace, name = error.__traceback__, "an unknown part"
    while trace is not None:
        name, trace = trace.tb_frame.f_globals.get("__name__", name), trace.tb_next
    return name
