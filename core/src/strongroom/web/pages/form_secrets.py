"""The secret of forms (CSRF) that a request presents: of a script, an upload, or a form."""

from typing import Final

from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wrappers import Request

from strongroom.foundation.errors import PayloadTooLarge
from strongroom.plugin_api.web import BODY_BYTES
from strongroom.web.http.bounded_body import BoundedBody
from strongroom.web.http.request import page_request

HEADER: Final = "X-CSRF"
FIELD: Final = "csrf"


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
