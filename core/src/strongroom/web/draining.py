"""Ends kept-alive connections while the server is being drained."""

from collections.abc import Callable, Iterable
from typing import Any

from strongroom.health.draining import DRAINING
from strongroom.web.wsgi import WsgiApp


class CloseWhileDraining:
    """Adds ``Connection: close`` to every response of a server that is being drained.

    A proxy that keeps idle connections may send a request on one in the moment in which the server
    closes it, and must not send a POST twice. So there are none left when the server stops.
    """

    def __init__(self, app: WsgiApp) -> None:
        self._app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not DRAINING.is_set:
            return self._app(environ, start_response)

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            return start_response(status, [*headers, ("Connection", "close")], *error)

        return self._app(environ, start)
