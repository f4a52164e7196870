"""The secret of forms (CSRF): how pages show it, and what a request presents.

A page never contains the secret of its browser, but a token: a random mask, and the secret under it.
Each response has another one, so sizes of compressed pages say nothing about it (BREACH): ADR 0118.
"""

import hmac
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Final

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Request

from strongroom.foundation.errors import PayloadTooLarge
from strongroom.plugin_api.web import BODY_BYTES
from strongroom.web.http.bounded_body import BoundedBody
from strongroom.web.http.request import page_request

HEADER: Final = "X-CSRF"
FIELD: Final = "csrf"
_BYTES: Final = 24


def new_secret() -> str:
    """Return a new secret for a browser."""
    return secrets.token_urlsafe(_BYTES)


def masked(secret: str) -> str:
    """Return a new token for a secret."""
    mask = secrets.token_bytes(_BYTES)
    return urlsafe_b64encode(mask + _combined(mask, urlsafe_b64decode(secret))).decode()


def is_token(secret: str, value: str | None) -> bool:
    """Return whether a value is a token for a secret."""
    try:
        token = urlsafe_b64decode(value or "")
    except ValueError:
        return False
    mask, content = token[:_BYTES], token[_BYTES:]
    if len(content) != _BYTES:
        return False
    return hmac.compare_digest(_combined(mask, content), urlsafe_b64decode(secret))


def _combined(mask: bytes, content: bytes) -> bytes:
    return (int.from_bytes(mask) ^ int.from_bytes(content)).to_bytes(_BYTES)


def presented_secret() -> str | None:
    """Return the secret that the current request presents: its header, query, or form.

    An upload or a larger form has it in the query, so that its body is not read before the secret is
    verified. The form stays readable, because the request of Flask or Werkzeug keeps it.

    Raises:
        PayloadTooLarge: a form without the secret in the query has more than :data:`BODY_BYTES`.
    """
    request = page_request()
    return request.headers.get(HEADER) or request.args.get(FIELD) or _field(request)


def _field(request: Request) -> str | None:
    request.max_content_length = BODY_BYTES
    if request.content_length is None:
        # Werkzeug would cut a chunked body at its limit, without an error.
        request.max_content_length = None
        request.environ["wsgi.input"] = BoundedBody.from_environ(request.environ, BODY_BYTES)
    try:
        return request.form.get(FIELD)
    except RequestEntityTooLarge as error:
        raise PayloadTooLarge from error
