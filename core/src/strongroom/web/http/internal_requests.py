"""Requests of plugins to the server's own REST API, within the process."""

import io
import json
from collections.abc import Iterable, Mapping
from contextvars import copy_context
from functools import partial
from http import HTTPStatus
from typing import Any, BinaryIO, Final
from urllib.parse import unquote

from werkzeug.datastructures import Headers
from werkzeug.exceptions import HTTPException
from werkzeug.test import run_wsgi_app

from strongroom.plugin_api.web import RestResponse
from strongroom.web.http.dispatch.application import Application
from strongroom.web.http.mounts import close_body
from strongroom.web.http.request import current_environ, get_service, request_id
from strongroom.web.http.reserved_routes import RESERVED

MAX_CONTENT: Final = 16 * 1024**2
"""The maximum size of a response in bytes, because it is kept in memory."""

_CLIENT: Final = (
    "HTTP_ACCEPT_LANGUAGE",
    "HTTP_HOST",
    "HTTP_USER_AGENT",
    "HTTP_X_FORWARDED_FOR",
    "REMOTE_ADDR",
    "SERVER_NAME",
    "SERVER_PORT",
    "SERVER_PROTOCOL",
)
"""The variables that describe the client and the server, which limits and records depend on."""


def send_request(
    base_path: str,
    method: str,
    path: str,
    body: Any,
    token: str | None,
    headers: Mapping[str, str],
    *,
    stream: bool = False,
) -> RestResponse:
    """Send a request as :meth:`HostAPI.rest` describes."""
    environ = _environ(base_path, method, path, body)
    environ["HTTP_X_REQUEST_ID"] = request_id()
    if token is not None:
        environ["HTTP_AUTHORIZATION"] = _as_sent(f"Bearer {token}")
    environ.update({_variable(name): _as_sent(value) for name, value in headers.items()})
    # The plugin gets the content, and what it sends to the browser has another coding or none.
    environ.pop("HTTP_ACCEPT_ENCODING", None)
    # The method of the class, without the middlewares: metrics and the access log count the browser's
    # request, and CORS does not apply. A copy of the context, because the browser's request continues.
    serve = partial(Application.wsgi_app, get_service(Application))
    pieces, status, received = copy_context().run(run_wsgi_app, serve, environ)
    code, retry_after = int(status.partition(" ")[0]), received.get("Retry-After", "")
    is_streamed = stream and code < HTTPStatus.BAD_REQUEST
    content = b"" if is_streamed else _content(pieces)
    return RestResponse(
        code,
        json.loads(content) if content and _is_json(received) else None,
        int(retry_after) if retry_after.isdecimal() else None,
        {name.lower(): ", ".join(received.getlist(name)) for name, _ in received},
        content,
        pieces if is_streamed else (),
    )


def has_operation(method: str, path: str) -> bool:
    """Return whether a path with the base path has an operation, other than one that answers 501."""
    adapter = get_service(Application).url_map.bind("")
    try:
        endpoint, _ = adapter.match(path, method)
    except HTTPException:
        return False
    return not str(endpoint).startswith(f"{RESERVED}.")


def _content(pieces: Iterable[bytes]) -> bytes:
    content = bytearray()
    try:
        for piece in pieces:
            content += piece
            if len(content) > MAX_CONTENT:
                raise ValueError(f"the response has more than {MAX_CONTENT} bytes")
    finally:
        close_body(pieces)
    return bytes(content)


def _is_json(headers: Headers) -> bool:
    media_type = headers.get("Content-Type", "").partition(";")[0]
    return media_type == "application/json" or media_type.endswith("+json")


def _environ(base_path: str, method: str, path: str, body: Any) -> dict[str, Any]:
    path, _, query = path.partition("?")
    content = _opened(body)
    current = current_environ()
    environ = {name: value for name, value in current.items() if name.startswith("wsgi.")}
    environ.update({name: current[name] for name in _CLIENT if name in current})
    environ.update(
        {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            # Decoded, as a server does.
            "PATH_INFO": _as_sent(base_path + unquote(path)),
            "QUERY_STRING": _as_sent(query),
            "CONTENT_LENGTH": str(content.seek(0, io.SEEK_END)),
            "wsgi.input": content,
        }
    )
    content.seek(0)
    if not isinstance(body, bytes | None) and content is not body:
        environ["CONTENT_TYPE"] = "application/json"
    return environ


def _opened(body: Any) -> BinaryIO:
    """Return the body as a file, at its end or anywhere."""
    if hasattr(body, "read"):
        file: BinaryIO = body
        return file
    if isinstance(body, bytes | None):
        return io.BytesIO(body or b"")
    # In ASCII, because input of the browser may contain lone surrogates, which the route then refuses.
    return io.BytesIO(json.dumps(body).encode())


def _variable(header: str) -> str:
    name = header.upper().replace("-", "_")
    return name if name == "CONTENT_TYPE" else f"HTTP_{name}"


def _as_sent(text: str) -> str:
    """Return a text as a server puts it into the environ: its bytes as Latin-1 (PEP 3333)."""
    return text.encode(errors="surrogatepass").decode("latin-1")
