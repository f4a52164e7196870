"""HTTP server of the simulator."""

from flask import Flask

from strongroom_simulators.platform_app import platform_app
from strongroom_simulators.serving import LocalServer
from strongroom_simulators.wecom.controls import controls
from strongroom_simulators.wecom.interfaces import interfaces, refuse
from strongroom_simulators.wecom.pages import pages
from strongroom_simulators.wecom.platform import Platform
from strongroom_simulators.wecom.refusals import Refusal


class Simulator(LocalServer):
    """Serves a platform over HTTP; as a context manager, from a thread.

    Args:
        platform: the platform.
        host: the address to listen on.
        port: the port to listen on; 0 selects a free one.
    """

    def __init__(self, platform: Platform, *, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__(make_app(platform), host=host, port=port)
        self.platform = platform


def make_app(platform: Platform) -> Flask:
    """Return the platform as a Flask application."""
    app = platform_app(
        __name__,
        name="WeCom",
        accent="#1d5fa8",
        requests=platform.requests,
        planned=platform.failures,
        content_type="application/json",
    )
    for routes in (pages, interfaces, controls):
        app.register_blueprint(routes(platform))
    app.register_error_handler(Refusal, refuse)
    return app
