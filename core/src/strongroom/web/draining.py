"""Closes keep-alive connections while the server drains."""

from collections.abc import Callable, Iterable
from typing import Any

from strongroom.health.draining import DRAINING
from strongroom.web.wsgi import WsgiApp


class CloseWhileDraining:
    """Middleware that adds ``Connection: close`` to every response while the server drains.

    A proxy may send a request on an idle connection at the moment when the server closes it, and must
    not retry a POST. So no idle connections may be left when the server stops.
    """

    def __init__(self, app: WsgiApp) -> None:
        self._app = app

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if not DRAINING.is_set:
            return self._app(environ, start_response)

        def start(status: str, headers: list[tuple[str, str]], *error: Any) -> Any:
            return start_response(status, [*headers, ("Connection", "close")], *error)

        return self._app(environ, start)
