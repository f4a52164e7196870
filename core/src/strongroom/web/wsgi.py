"""What stands between the server and Flask."""

from collections.abc import Callable, Iterable
from typing import Any

WsgiApp = Callable[..., Iterable[bytes]]


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
