"""The header Idempotency-Key of requests that create something.

Source: draft-ietf-httpapi-idempotency-key-header.

All operations of POST that create for a caller accept it, of the core and of plugins.
"""

import json
import re
from collections.abc import Callable, Iterable
from hashlib import sha256
from http import HTTPStatus
from typing import Final

import flask
from flask import request

from strongroom.foundation.errors import ValidationFailed
from strongroom.foundation.idempotency import MAX_ANSWER, IdempotencyKeys, KeyedRequest, StoredAnswer
from strongroom.web.http.access import current_identity
from strongroom.web.http.request import current_environ, get_service, header
from strongroom.web.http.response import Response

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotency-Replayed"

_KEY: Final = re.compile(r'"([ !#-\[\]-~]{1,255})"|([!#-+\--:<-\[\]-~]{1,255})')
"""A string of structured fields without escapes (RFC 9651, section 3.3.3), or its bare content."""

_VARIABLES: Final = ("PATH_INFO", "QUERY_STRING", "CONTENT_TYPE", "CONTENT_LENGTH")
_STATUSES: Final = frozenset({HTTPStatus.CREATED, HTTPStatus.ACCEPTED})


def creates(method: str, status: int, *, has_caller: bool) -> bool:
    """Return whether an operation accepts the header: it creates something for a caller."""
    return method == "POST" and status in _STATUSES and has_caller


def respond_once(
    operation: str,
    headers: Iterable[str],
    respond: Callable[[], flask.Response],
    *,
    reads_body: bool,
) -> flask.Response:
    """Return the response to a request, or the stored one if the request is repeated.

    Args:
        operation: the name of the operation, because keys are distinct for each.
        headers: the names of the headers that the operation reads.
        reads_body: whether the body has been read and is small. Streams are compared by their headers:
            type, length, name and digests.

    Raises:
        ValidationFailed: the key is invalid.
        StrongroomError: as :meth:`IdempotencyKeys.run`.
    """
    key, responses = _key(), list[flask.Response]()
    identity = current_identity()
    scope = (
        identity.user_id,
        identity.key.key_id if identity.key else "",
        identity.actor_id or "",
        operation,
    )

    def process() -> StoredAnswer | None:
        responses.append(respond())
        return _stored(responses[0])

    keyed = KeyedRequest(identity.user_id, scope, key, _fingerprint(headers, reads_body=reads_body))
    answer = get_service(IdempotencyKeys).run(keyed, process)
    return responses[0] if answer is None else _replayed(answer)


def _key() -> str:
    match = _KEY.fullmatch((header(HEADER) or "").strip(" \t"))
    if match is None:
        message = "Must be a string of 1 to 255 printable ASCII characters, such as a UUID."
        raise ValidationFailed.of_field(HEADER, "invalid", message)
    return match[1] or match[2]


def _fingerprint(headers: Iterable[str], *, reads_body: bool) -> str:
    environ = current_environ()
    names = sorted({*headers} - {HEADER})
    parts = [environ.get(variable, "") for variable in _VARIABLES]
    parts += [f"{name}: {header(name)}" for name in names if header(name) is not None]
    hashed = sha256(json.dumps(parts).encode())
    if reads_body:
        hashed.update(request.get_data())
    return hashed.hexdigest()


def _stored(response: flask.Response) -> StoredAnswer | None:
    """Return what is stored of a response; ``None`` if it is too large, or sent in pieces."""
    if response.is_streamed or not (response.content_length or 0) <= MAX_ANSWER:
        return None
    headers = tuple((name, value) for name, value in response.headers if name != "Content-Length")
    return StoredAnswer(response.status_code, headers, response.get_data(as_text=True))


def _replayed(answer: StoredAnswer) -> flask.Response:
    return Response(answer.body.encode(), answer.status, (*answer.headers, (REPLAYED, "true")))
