"""What stands between the server and Flask."""

from collections.abc import Callable, Iterable
from typing import Any, Final

WsgiApp = Callable[..., Iterable[bytes]]

_PIECE_BYTES: Final = 64 * 1024


class HonestLength:
    """Makes Werkzeug hold a body against its announced length.

    Servers that mark the end of a body themselves make Werkzeug skip that check, and none of them
    tells an end from a connection that broke: an upload cut short would be taken for a whole one.
    """

    def __init__(self, app: WsgiApp) -> None:
        self._app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if environ.get("CONTENT_LENGTH"):
            environ.pop("wsgi.input_terminated", None)
        return self._app(environ, start_response)


class LingeringRefusal:
    """Reads a small rest of a body that was refused unread, so that the client hears why.

    A connection that closes while its client still sends is reset, and the reset may overtake the
    answer (RFC 9112 section 9.6). Whoever asked first (``Expect``) is told before it sends.
    """

    def __init__(self, app: WsgiApp, limit: int = 16 * 1024 * 1024) -> None:
        """``limit`` is in bytes; what goes on beyond it is cut off."""
        self._app = app
        self._limit = limit

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        # Where the server does not mark the end of a body, reading on would wait for ever.
        lingers = bool(environ.get("wsgi.input_terminated")) and "HTTP_EXPECT" not in environ
        answer = self._app(environ, start_response)
        if lingers and _may_have_body(environ):
            self._discard(environ["wsgi.input"])
        return answer

    def _discard(self, body: Any) -> None:
        rest = self._limit
        while rest > 0 and (piece := body.read(_PIECE_BYTES)):
            rest -= len(piece)


def _may_have_body(environ: dict[str, Any]) -> bool:
    length = environ.get("CONTENT_LENGTH")
    return length != "0" if length else "HTTP_TRANSFER_ENCODING" in environ
