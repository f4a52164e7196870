"""HTTP server of the simulator."""

import threading
from types import TracebackType
from typing import Self

from flask import Flask, Response, request
from werkzeug.serving import BaseWSGIServer, WSGIRequestHandler, make_server

from strongroom_simulators.wechat.answers import CONTENT_TYPE, refuse
from strongroom_simulators.wechat.controls import controls
from strongroom_simulators.wechat.mini_program import mini_program_interfaces
from strongroom_simulators.wechat.platform import Platform
from strongroom_simulators.wechat.qr_page import qr_page
from strongroom_simulators.wechat.refusals import Refusal
from strongroom_simulators.wechat.website import website_interfaces


class Simulator:
    """Serves a platform over HTTP; as a context manager, from a thread.

    Args:
        platform: the platform.
        host: the address to listen on.
        port: the port to listen on; 0 selects a free one.
    """

    def __init__(self, platform: Platform, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.platform = platform
        self._server: BaseWSGIServer = make_server(
            host, port, make_app(platform), threaded=True, request_handler=_QuietHandler
        )
        self._thread = threading.Thread(target=self.serve, name="wechat-simulator", daemon=True)
        self.url = f"http://{host}:{self._server.server_port}"

    def serve(self) -> None:
        """Serve requests until the server is closed."""
        self._server.serve_forever(poll_interval=0.01)

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
        self._server.server_close()


def make_app(platform: Platform) -> Flask:
    """Return the platform as a Flask application."""
    app = Flask(__name__)
    app.register_blueprint(qr_page(platform))
    app.register_blueprint(website_interfaces(platform))
    app.register_blueprint(mini_program_interfaces(platform))
    app.register_blueprint(controls(platform))
    app.register_error_handler(Refusal, refuse)

    @app.before_request
    def planned_answer() -> Response | None:
        platform.requests[request.path] += 1
        planned = platform.failures.take(request.path)
        if planned is None:
            return None
        return Response(planned.body, planned.status, planned.headers, content_type=CONTENT_TYPE)

    return app


class _QuietHandler(WSGIRequestHandler):
    """Logs no requests, because their query strings contain secrets."""

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass
