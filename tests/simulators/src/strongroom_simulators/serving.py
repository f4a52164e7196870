"""Serves a simulated platform over HTTP."""

import threading
from socketserver import BaseServer
from types import TracebackType
from typing import Any, Self

from flask import Flask
from werkzeug.serving import WSGIRequestHandler, make_server


class ServingThread:
    """Serves by a server; as a context manager, from a thread."""

    def __init__(self, server: BaseServer) -> None:
        self._server: Any = server
        # Tests find servers that do not end by this word.
        name = f"{type(self).__module__} (serve_forever)"
        self._thread = threading.Thread(target=self.serve, name=name, daemon=True)

    @property
    def address(self) -> str:
        """``host:port`` of the listening socket."""
        host, port = self._server.server_address[:2]
        return f"{host}:{port}"

    def serve(self) -> None:
        """Serve requests until the server is closed, or until interrupted."""
        self._server.serve_forever(poll_interval=0.01)

    def close(self) -> None:
        """Stop listening."""
        self._server.server_close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self.close()


class LocalServer(ServingThread):
    """Serves an application.

    Args:
        host: the address to listen on.
        port: the port to listen on; 0 selects a free one.
    """

    def __init__(self, app: Flask, *, host: str, port: int) -> None:
        super().__init__(make_server(host, port, app, threaded=True, request_handler=_QuietHandler))
        self.url = f"http://{self.address}"


class _QuietHandler(WSGIRequestHandler):
    """Logs no requests, because their query strings contain secrets."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass
